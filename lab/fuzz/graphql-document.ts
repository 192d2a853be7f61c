import {
  type GraphQLInputType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from "graphql";
import { oddJson, oddText } from "./odd-values.ts";
import type { Tape } from "./tape.ts";

/** An operation that the schema allows, with its variables as JSON text. */
export interface GraphqlDocument {
  readonly text: string;
  readonly variables: string;
}

export type OperationKind = "query" | "mutation" | "subscription";

const MAX_DEPTH = 5;
const MAX_FIELDS = 30;

/** Writes an operation for the schema. Its values are often odd, its structure is valid. */
export function graphqlDocument(
  tape: Tape,
  schema: GraphQLSchema,
  cursors: readonly string[],
  kind: OperationKind,
): GraphqlDocument {
  const declared: string[] = [];
  const values: string[] = [];
  const fragments: string[] = [];
  let fields = 0;
  const root = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[kind];
  // A subscription has one root field.
  const body =
    kind === "subscription" ? `{ ${field(root as GraphQLObjectType, 1)} }` : selection(root as GraphQLObjectType, 0);
  const head = declared.length === 0 ? "" : `(${declared.join(", ")})`;
  return { text: `${kind} Q${head} ${body}\n${fragments.join("\n")}`, variables: `{${values.join(",")}}` };

  function selection(type: GraphQLNamedOutputType, depth: number): string {
    return `{ ${[one(type, depth), ...tape.some(2, () => one(type, depth))].join(" ")} }`;
  }

  function one(type: GraphQLNamedOutputType, depth: number): string {
    const shape = tape.below(12);
    if (shape === 11 || !isCompositeType(type)) return "__typename";
    const target = isAbstractType(type) ? tape.pick(schema.getPossibleTypes(type)) : type;
    if (isUnionType(type) || shape === 10) return `... on ${target.name}${directive()} ${selection(target, depth + 1)}`;
    if (shape !== 9) return field(type as GraphQLObjectType, depth);
    const name = `F${fragments.length}`;
    const at = fragments.push("") - 1;
    fragments[at] = `fragment ${name} on ${target.name} ${selection(target, depth + 1)}`;
    return `...${name}${directive()}`;
  }

  function field(type: GraphQLObjectType, depth: number): string {
    const all = Object.values(type.getFields());
    const leaves = all.filter((one) => !isCompositeType(getNamedType(one.type)) && !one.args.some(isRequiredArgument));
    const isDeep = depth >= MAX_DEPTH || ++fields > MAX_FIELDS;
    const { name, args, type: result } = tape.pick(isDeep && leaves.length > 0 ? leaves : all);
    const given = args
      .filter((arg) => isRequiredArgument(arg) || tape.oneIn(3))
      .map((arg) => `${arg.name}: ${argument(arg.name, arg.type)}`);
    const alias = tape.oneIn(3) ? "" : `f${fields}_${depth}: `;
    const named = getNamedType(result);
    const more = !isCompositeType(named) ? "" : isDeep ? " { __typename }" : ` ${selection(named, depth + 1)}`;
    return `${alias}${name}${given.length === 0 ? "" : `(${given.join(", ")})`}${directive()}${more}`;
  }

  function argument(name: string, type: GraphQLInputType): string {
    if ((name === "after" || name === "before") && tape.oneIn(2)) return JSON.stringify(tape.pick(cursors));
    if (!tape.oneIn(3)) return literal(tape, type);
    const variable = `v${declared.length}`;
    declared.push(`$${variable}: ${String(type)}`);
    values.push(`"${variable}":${tape.oneIn(4) ? oddJson(tape) : jsonValue(tape, type)}`);
    return `$${variable}`;
  }

  function directive(): string {
    return tape.below(10) === 9
      ? tape.pick([" @include(if: true)", " @skip(if: true)", " @skip(if: false) @include(if: true)"])
      : "";
  }
}

function literal(tape: Tape, type: GraphQLInputType): string {
  if (isNonNullType(type)) return literal(tape, type.ofType);
  if (isListType(type))
    return `[${[literal(tape, type.ofType), ...tape.some(3, () => literal(tape, type.ofType))].join(", ")}]`;
  if (isEnumType(type)) return tape.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const given = Object.values(type.getFields()).filter((one) => isRequiredInputField(one) || tape.oneIn(2));
    return `{${given.map((one) => `${one.name}: ${literal(tape, one.type)}`).join(", ")}}`;
  }
  return scalar(tape, type.name);
}

function jsonValue(tape: Tape, type: GraphQLInputType): string {
  if (isNonNullType(type)) return jsonValue(tape, type.ofType);
  if (isListType(type)) return `[${tape.some(4, () => jsonValue(tape, type.ofType)).join(",")}]`;
  if (isEnumType(type)) return JSON.stringify(tape.pick(type.getValues()).name);
  if (isInputObjectType(type)) {
    const given = Object.values(type.getFields()).filter((one) => isRequiredInputField(one) || tape.oneIn(2));
    return `{${given.map((one) => `"${one.name}":${jsonValue(tape, one.type)}`).join(",")}}`;
  }
  return scalar(tape, type.name);
}

/** As a literal of GraphQL and of JSON. */
function scalar(tape: Tape, name: string): string {
  const digits = String(tape.below(10_000)).padStart(10, "0");
  switch (name) {
    case "Int":
    case "Cents":
    case "Stock":
      return tape.pick(["1", "3", "0", "20", "100", "-1", "1000000", "2147483647", "2147483648", "1.5"]);
    case "Boolean":
      return tape.pick(["true", "false"]);
    case "Isbn":
      return `"978${digits}"`;
    case "ID":
      return JSON.stringify(
        tape.oneIn(3) ? oddText(tape).toWellFormed() : tape.pick(["book-1", "book-2", "book-3", "author-1", "reader1"]),
      );
    default:
      return JSON.stringify(
        tape.oneIn(2) ? oddText(tape).toWellFormed() : tape.pick(["The", "title", "A title", "reader1"]),
      );
  }
}
