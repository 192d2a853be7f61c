import { type GraphQLSchema, getNamedType, type OperationDefinitionNode } from "graphql";
import { type Fragments } from "../selection/fragments-of.ts";
import { type Gathering, sumSelections } from "../selection/sum-selections.ts";
import { saturatingSum } from "./saturating-sum.ts";

/**
 * The fields that return the schema. No type can declare the first two, and `__typename` reveals nothing about the schema that
 * the data does not. A subgraph returns its SDL to the router by `_service`.
 */
export function schemaFields(schema: GraphQLSchema): ReadonlySet<string> {
  const service = schema.getQueryType()?.getFields()["_service"];
  const isSubgraph = service !== undefined && getNamedType(service.type).name === "_Service";
  return new Set(["__schema", "__type", ...(isSubgraph ? ["_service"] : [])]);
}

/** Whether an operation selects one of these fields, under any alias and in any fragment. */
export function asksForSchema(
  fields: ReadonlySet<string>,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): boolean {
  return sumSelections(operation, fragments, selecting(fields), undefined).isFound;
}

function selecting(fields: ReadonlySet<string>): Gathering<{ isFound: boolean }, undefined> {
  return {
    empty: () => ({ isFound: false }),
    field(sum, { name }) {
      sum.isFound ||= fields.has(name.value);
      return undefined;
    },
    below(sum, inner) {
      sum.isFound ||= inner.isFound;
    },
    inside: () => undefined,
    merge(sum, _node, inner) {
      sum.isFound ||= inner.isFound;
    },
  };
}

/**
 * Whether an operation reads so much of the schema that the response would be many times as large as the schema: lists
 * of fields within lists of fields, or the whole schema several times. The introspection queries of tools stay within
 * both limits.
 */
export function asksForTooMuch(operation: OperationDefinitionNode, fragments: Fragments): boolean {
  const { schemas, widest } = sumSelections(operation, fragments, reading, "another field");
  return schemas > MAX_SCHEMAS || widest > MAX_LISTS;
}

const MAX_SCHEMAS = 3;
const MAX_LISTS = 1;
/** The fields of `__Type` that multiply the selections in them. graphql's own rule allows two nested levels of them. */
const LISTS: ReadonlySet<string> = new Set(["fields", "inputFields", "interfaces", "possibleTypes"]);

/** The schema fields in a selection set. */
interface Reading {
  /** How often `__schema` is selected. */
  schemas: number;
  /** How deeply lists nest below this selection set. */
  lists: number;
  /** How deeply lists nest within `__schema` and `__type`. */
  widest: number;
}

/** The field that a selection set belongs to. */
type Around = "a way in" | "a list" | "another field";

const reading: Gathering<Reading, Around> = {
  empty: () => ({ schemas: 0, lists: 0, widest: 0 }),
  field(sum, { name: { value: name } }) {
    if (name === "__schema") sum.schemas = saturatingSum(sum.schemas, 1);
    if (name === "__schema" || name === "__type") return "a way in";
    return LISTS.has(name) ? "a list" : "another field";
  },
  below(sum, inner, around) {
    add(sum, { ...inner, lists: inner.lists + (around === "a list" ? 1 : 0) });
    if (around === "a way in") sum.widest = Math.max(sum.widest, inner.lists);
  },
  inside: () => "another field",
  merge: (sum, _node, inner) => add(sum, inner),
};

function add(sum: Reading, inner: Reading): void {
  sum.schemas = saturatingSum(sum.schemas, inner.schemas);
  sum.lists = Math.max(sum.lists, inner.lists);
  sum.widest = Math.max(sum.widest, inner.widest);
}
