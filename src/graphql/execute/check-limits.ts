import type { ErrorCode } from "../../core/error-codes.ts";
import type { Cost } from "../limits/cost.ts";
import type { Limits } from "../limits/limits.ts";
import type { Structure } from "../limits/measure.ts";
import { type GraphRefusal, refusal } from "./refusal.ts";

/** Throws `GraphRefusal` for the first limit that the operation exceeds, in the order of the table below. */
export function checkStructure(structure: Structure, limits: Limits): void {
  for (const [name, code, subject] of STRUCTURAL) {
    const limit = limits[name];
    if (limit !== null && structure[name] > limit) throw over(code, subject, structure[name], limit);
  }
}

/**
 * What the operation costs with these variables, which are coerced already; `null` while cost analysis is off. Throws
 * `GraphRefusal` when that is more than the budget.
 */
export function checkCost(
  prepared: { readonly cost: Cost | null },
  variables: Readonly<Record<string, unknown>>,
  limits: Limits,
): number | null {
  if (prepared.cost === null) return null;
  const cost = prepared.cost(variables);
  if (limits.cost !== null && cost > limits.cost) throw over("COST_LIMIT_EXCEEDED", "cost", cost, limits.cost);
  return cost;
}

/** Refuses with the limit and the count in the sentence: a client has to know how far off it is. */
function over(code: ErrorCode, subject: string, count: number | string, limit: number): GraphRefusal {
  return refusal(code, `The ${subject} of the operation is ${count}, the limit is ${limit}`);
}

const STRUCTURAL = [
  ["depth", "DEPTH_LIMIT_EXCEEDED", "depth"],
  ["aliases", "ALIAS_LIMIT_EXCEEDED", "number of aliases"],
  ["breadth", "BREADTH_LIMIT_EXCEEDED", "breadth"],
  ["fields", "FIELD_LIMIT_EXCEEDED", "number of fields"],
  ["directives", "DIRECTIVE_LIMIT_EXCEEDED", "number of directives"],
] as const;
