import * as fc from "fast-check";
import { buildSchema, type GraphQLSchema } from "graphql";

/** A schema that Portico did not build, with costs and sizes on some of its fields. */
export function pricedSchema(): GraphQLSchema {
  const schema = buildSchema(`
    type Query { leaf: ID  a: Node  list(first: Int = 2): [Node!]!  some(first: Int): [Node!]!  few: [Node!]! }
    type Node { leaf: ID  a: Node  list(first: Int = 3): [Node!]!  some(first: Int): [Node!]!  few: [Node!]! }
  `);
  for (const name of ["Query", "Node"]) {
    const fields = (schema.getType(name) as ReturnType<GraphQLSchema["getQueryType"]>)?.getFields() ?? {};
    for (const [field, extensions] of Object.entries(PRICES)) Object.assign(fields[field] ?? {}, { extensions });
  }
  return schema;
}

export const PRICES: Readonly<Record<string, { cost?: number; listSize?: unknown }>> = {
  a: { cost: 2 },
  list: { listSize: { argument: "first", max: 9 } },
  some: { cost: 0, listSize: { argument: "first", max: 7, assumed: 4 } },
  few: { cost: 3, listSize: 5 },
};

/** Documents that are valid but for fields that conflict and fragments that nothing spreads. */
export const documents: fc.Arbitrary<string> = fc.gen().map((gen) => {
  const pick = <T>(values: readonly T[]): T => gen(fc.constantFrom, ...values) as T;
  const names = ["F0", "F1", "__proto__", "constructor"];
  const types = names.map(() => pick(["Query", "Node"]));
  const fragments = names.map(
    (name, at) => `fragment ${name} on ${types[at]}${directives()} ${selections(types[at] ?? "", at + 1, 2)}`,
  );
  return `query Q($n: Int, $m: Int = 3${pick(["", " @on"])})${directives()} ${selections("Query", 0, 3)}\n${fragments.join("\n")}`;

  function selections(type: string, from: number, depth: number): string {
    return `{ ${Array.from({ length: pick([1, 2, 3]) }, () => selection(type, from, depth)).join(" ")} }`;
  }

  function selection(type: string, from: number, depth: number): string {
    const kind = depth === 0 ? "leaf" : pick(["leaf", "field", "field", "inline", "spread", "spread"]);
    const target = names.findIndex((_, at) => at >= from && types[at] === type);
    if (kind === "spread" && target >= 0) return `...${names[target]}${directives()}`;
    if (kind === "inline") return `...${pick(["", ` on ${type}`])}${directives()} ${selections(type, from, depth - 1)}`;
    if (kind !== "field") return `${alias()}${pick(["leaf", "__typename"])}${directives()}`;
    return `${alias()}${pick(FIELDS)}${directives()} ${selections("Node", from, depth - 1)}`;
  }

  function alias(): string {
    return pick(["", "", "x: ", "y: "]);
  }

  function directives(): string {
    return pick(["", "", "", " @on", " @on @on"]);
  }
});

const FIELDS = [
  "a",
  "few",
  "list",
  "list(first: 4)",
  "list(first: -1)",
  "list(first: 1000)",
  "list(first: $n)",
  "some",
  "some(first: null)",
  "some(first: $n)",
  "some(first: $m)",
];
