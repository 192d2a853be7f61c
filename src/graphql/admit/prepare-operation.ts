import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { graphRefusal } from "../errors/graph-refusal.ts";
import { Plan } from "../execute/plan/plan.ts";
import { type ActualCost, compileActualCost } from "../limits/actual-cost.ts";
import { asksForSchema, asksForTooMuch } from "../limits/asks-for-schema.ts";
import type { Limits } from "../limits/limits.ts";
import { measureStructure, type Structure } from "../limits/measure-structure.ts";
import { compileStaticCost, type StaticCost } from "../limits/static-cost.ts";
import { checkAliases, checkStructure } from "./check-structure.ts";
import type { ReadDocument } from "./read-document.ts";
import { validateDocument } from "./validate-document.ts";

/** One operation of a document that is valid and within the limits: everything about it that the variables do not change. */
export interface Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly name: string | null;
  readonly structure: Structure;
  /** `null` while cost analysis is off. */
  readonly cost: StaticCost | null;
  /** Returns what the fields in a response cost. */
  readonly actualCost: ActualCost;
  /** Returns `extensions.cost` of a response as JSON. */
  readonly printCost: (cost: number) => string;
  /** Returns its compiled form, which is made for the first execution; `null` if graphql has to execute it. */
  readonly plan: () => Plan | null;
}

/** The executor of operations: Portico's compiled plans, or graphql's `execute`. */
export type Executor = "portico" | "graphql-js";

/** The settings of an endpoint that its operations are prepared for. */
export interface PreparedFor {
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
  /** Whether clients may read the schema and receive suggestions from it. */
  readonly introspection: boolean;
  /** The fields that return the schema. */
  readonly schemaFields: ReadonlySet<string>;
  readonly executor: Executor;
}

/**
 * Checks one operation of a document and compiles its cost. Throws `GraphRefusal`.
 *
 * @param isValid whether the document was already found valid, for another of its operations
 */
export function prepareOperation(
  { schema, limits, introspection, schemaFields, executor }: PreparedFor,
  read: ReadDocument,
  operation: OperationDefinitionNode,
  isValid: boolean,
): Prepared {
  const { document, fragments } = read;
  const structure = measureStructure(operation, fragments);
  checkStructure(structure, limits);
  if (!isValid) {
    checkAliases(document, limits);
    validateDocument(schema, read, { limits, introspection });
  }
  if (!introspection && asksForSchema(schemaFields, operation, fragments))
    throw graphRefusal("INTROSPECTION_DISABLED", "Introspection is disabled");
  if (asksForTooMuch(operation, fragments))
    throw graphRefusal("GRAPHQL_VALIDATION_FAILED", "Maximum introspection depth exceeded");
  const cost = limits.cost === null ? null : compileStaticCost(schema, document, operation, fragments);
  const plan = executor === "portico" ? lazyPlan(schema, document, operation, structure) : noPlan;
  return {
    document,
    operation,
    name: operation.name?.value ?? null,
    structure,
    cost,
    actualCost: compileActualCost(schema, operation, fragments),
    printCost: costPrinter(structure),
    plan,
  };
}

/** Keeps the last text, because most requests for an operation have the same cost. */
function costPrinter({ depth, aliases, breadth, fields }: Structure): (cost: number) => string {
  let last = { cost: Number.NaN, text: "" };
  return (cost) => {
    if (cost !== last.cost) last = { cost, text: JSON.stringify({ cost: { depth, cost, aliases, breadth, fields } }) };
    return last.text;
  };
}

function lazyPlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  { fields }: Structure,
): () => Plan | null {
  let plan: Plan | null | undefined;
  return () => {
    if (plan === undefined) plan = Plan.compile(schema, document, operation, { fields });
    return plan;
  };
}

const noPlan = (): null => null;
