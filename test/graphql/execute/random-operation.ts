import {
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
  isUnionType,
} from "graphql";
import type { Chance } from "./chance.ts";

/** A document, which may be invalid. */
export interface RandomOperation {
  readonly text: string;
  /** Returns other variables for each execution. */
  readonly variables: () => Readonly<Record<string, unknown>>;
}

/** Writes a random operation for a schema. */
export function randomOperation(schema: GraphQLSchema, chance: Chance): RandomOperation {
  const fragments = new Map<string, string>();
  const isMutation = chance.is(0.2);
  const root = (isMutation ? schema.getMutationType() : schema.getQueryType()) as GraphQLObjectType;
  const body = selection(root, 4);
  const keyword = isMutation ? "mutation" : "query";
  const text = `${keyword} Q($b: Boolean!, $c: Boolean = true, $n: Int, $s: String = "v", $f: Filter) ${body} ${[...fragments.values()].join(" ")}`;
  return { text: withoutUnused(text), variables };

  function selection(type: GraphQLCompositeType, depth: number): string {
    return `{ ${Array.from({ length: 1 + chance.below(3) }, () => one(type, depth)).join(" ")} }`;
  }

  function one(type: GraphQLCompositeType, depth: number): string {
    const kind = chance.below(10);
    if (kind === 0) return `${chance.pick(["", "", "", "t: ", "t: ", "t: ", "__proto__: "])}__typename${directives()}`;
    if (kind === 1) return `...${directives()} ${selection(type, depth)}`;
    if (kind === 2 || isUnionType(type)) return inline(type, depth);
    if (kind === 3) return spread(type, depth);
    return field(type, depth);
  }

  function inline(type: GraphQLCompositeType, depth: number): string {
    const on = target(type);
    return depth === 0 ? "__typename" : `... on ${on.name}${directives()} ${selection(on, depth - 1)}`;
  }

  function spread(type: GraphQLCompositeType, depth: number): string {
    const on = target(type);
    const name = `F${on.name}${chance.below(2)}`;
    if (depth === 0) return "__typename";
    if (!fragments.has(name)) {
      fragments.set(name, "");
      fragments.set(name, `fragment ${name} on ${on.name} ${selection(on, Math.min(depth - 1, 1))}`);
    }
    return `...${name}${directives()}`;
  }

  function target(type: GraphQLCompositeType): GraphQLCompositeType {
    return isObjectType(type) ? type : chance.pick([type, ...schema.getPossibleTypes(type)]);
  }

  function field(
    type: Exclude<GraphQLCompositeType, ReturnType<typeof schema.getMutationType>> | GraphQLObjectType,
    depth: number,
  ): string {
    if (isUnionType(type)) return "__typename";
    const all = Object.values(type.getFields());
    const { name, type: result, args } = chance.pick(all);
    const named = getNamedType(result);
    const names = args.map((arg) => arg.name);
    const [given] = chance.pick(ARGS.filter(([, ...needed]) => needed.every((one) => names.includes(one))));
    // Fields with different arguments, or of different types, need different names.
    const usual = chance.is(0.6)
      ? `${type.name}_${name}${given.length}: `
      : given === ""
        ? ""
        : `x${given.length}${name}: `;
    const key = chance.is(0.03) ? "__proto__: " : usual;
    if (!isCompositeType(named)) return `${key}${name}${given}${directives()}`;
    return depth === 0 ? "__typename" : `${key}${name}${given}${directives()} ${selection(named, depth - 1)}`;
  }

  function directives(): string {
    return chance.is(0.8)
      ? ""
      : chance.pick([
          " @skip(if: $b)",
          " @include(if: $b)",
          " @include(if: $c)",
          " @skip(if: false)",
          " @include(if: true)",
          " @skip(if: $c) @include(if: $b)",
        ]);
  }

  function variables(): Record<string, unknown> {
    return {
      b: chance.is(0.5),
      ...(chance.is(0.5) ? { c: chance.pick([true, false, null]) } : {}),
      ...(chance.is(0.5) ? { n: chance.pick([1, null]) } : {}),
      ...(chance.is(0.5) ? { s: chance.pick(["given", null]) } : {}),
      ...(chance.is(0.5) ? { f: chance.pick([null, {}, { text: "t", list: [1, null] }, { color: "BLUE" }]) } : {}),
    };
  }
}

/** Arguments, and the names that the field has to have. */
const ARGS: readonly (readonly [text: string, ...names: string[]])[] = [
  [""],
  ["(n: 1)", "n"],
  ["(n: $n)", "n"],
  ["(s: $s)", "s"],
  ['(s: "lit", n: null)', "s", "n"],
  ["(color: BLUE)", "color"],
  ["(filter: $f, n: 2)", "filter"],
  ['(filter: {text: "in", list: [1, 2]})', "filter"],
  ["(filter: {list: [$n, 4]}, n: 4)", "filter"],
];

/** Unused variables would make the document invalid. */
function withoutUnused(text: string): string {
  const end = text.indexOf(")") + 1;
  const [head, rest] = [text.slice(0, end), text.slice(end)];
  const used = [...head.matchAll(/\$(\w)([^,)]*)/g)].filter(([, name]) => new RegExp(`\\$${name}\\b`).test(rest));
  const list = used.map(([whole]) => whole).join(", ");
  return `${head.slice(0, head.indexOf("("))}${list === "" ? "" : `(${list})`}${rest}`;
}
