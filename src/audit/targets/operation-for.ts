import { type GraphQLArgument, type GraphQLField, getNamedType, isCompositeType, isRequiredArgument } from "graphql";
import { dummyValue } from "./dummy-value.ts";
import type { Operation, OperationKind } from "./operation.ts";

/** One field on the way from the root to a place. */
export interface Step {
  /** The object type that has the field. */
  readonly owner: string;
  readonly field: GraphQLField<unknown, unknown>;
}

/** The number of rows that a list is limited to. */
const ROWS = 3;

/**
 * Writes the operation for a place, with dummies for the required arguments.
 *
 * @param object the type to look for at the end; objects of other types have no members in the response
 */
export function operationFor(kind: OperationKind, steps: readonly Step[], object?: string): Operation {
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const end = object === undefined ? " { __typename }" : ` { ... on ${object} { __typename } }`;
  const selection = steps.toReversed().reduce((inner, { owner, field }) => {
    const args = field.args.filter(isGiven).map((arg) => {
      const name = `v${declared.length}`;
      declared.push(`$${name}: ${String(arg.type)}`);
      variables[name] = arg.name === "first" ? ROWS : dummyValue(arg.type);
      return `${arg.name}: $${name}`;
    });
    const rest = isCompositeType(getNamedType(field.type)) ? inner || end : "";
    const call = `${field.name}${args.length === 0 ? "" : `(${args.join(", ")})`}${rest}`;
    // The field above may return an interface or a union.
    return kind !== "query" || steps[0]?.field === field ? ` { ${call} }` : ` { ... on ${owner} { ${call} } }`;
  }, "");
  const head = declared.length === 0 ? kind : `${kind}(${declared.join(", ")})`;
  const path = steps.map(({ field }) => field.name);
  return { kind, query: head + selection, variables, path, ...(object === undefined ? {} : { object }) };
}

function isGiven(arg: GraphQLArgument): boolean {
  return isRequiredArgument(arg) || (arg.name === "first" && String(getNamedType(arg.type)) === "Int");
}
