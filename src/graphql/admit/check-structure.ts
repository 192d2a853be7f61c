import type { DocumentNode } from "graphql";
import type { ErrorCode } from "../../core/error-codes.ts";
import { type GraphRefusal, graphRefusal } from "../errors/graph-refusal.ts";
import type { Limits } from "../limits/limits.ts";
import { longestAlias } from "../limits/longest-alias.ts";
import type { Structure } from "../limits/measure-structure.ts";

/** Throws `GraphRefusal` for the first limit that the operation exceeds, in the order of `STRUCTURAL`. */
export function checkStructure(structure: Structure, limits: Limits): void {
  for (const [name, code, subject] of STRUCTURAL) {
    const limit = limits[name];
    if (limit !== null && structure[name] > limit) throw over(code, subject, structure[name], limit);
  }
}

/** Throws `GraphRefusal` for a document with an alias that is too long: a list repeats it in the response for each item. */
export function checkAliases(document: DocumentNode, { aliases }: Limits): void {
  if (aliases === null) return;
  const length = longestAlias(document);
  if (length > MAX_ALIAS_LENGTH)
    throw graphRefusal(
      "ALIAS_LIMIT_EXCEEDED",
      `The document has an alias of ${length} characters; the limit is ${MAX_ALIAS_LENGTH}`,
    );
}

/** In characters. Without this limit, a document of 60 kB could produce a response of hundreds of megabytes. */
const MAX_ALIAS_LENGTH = 256;

/** Throws `GraphRefusal` when an operation costs more than the budget; `null` is the cost while cost analysis is off. */
export function checkCost(cost: number | null, limits: Limits): void {
  if (cost !== null && limits.cost !== null && cost > limits.cost)
    throw over("COST_LIMIT_EXCEEDED", "cost", cost, limits.cost);
}

/** The message has the limit and the count, so that clients see how far off they are. */
function over(code: ErrorCode, subject: string, count: number | string, limit: number): GraphRefusal {
  return graphRefusal(code, `The operation's ${subject} is ${count}; the limit is ${limit}`);
}

const STRUCTURAL = [
  ["depth", "DEPTH_LIMIT_EXCEEDED", "depth"],
  ["aliases", "ALIAS_LIMIT_EXCEEDED", "alias count"],
  ["breadth", "BREADTH_LIMIT_EXCEEDED", "breadth"],
  ["fields", "FIELD_LIMIT_EXCEEDED", "field count"],
  ["directives", "DIRECTIVE_LIMIT_EXCEEDED", "directive count"],
] as const;
