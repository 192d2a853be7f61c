import * as fc from "fast-check";
import { buildSchema, type GraphQLObjectType, type GraphQLSchema, Kind, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { compileStaticCost, type StaticCost } from "../../../src/graphql/limits/static-cost.ts";
import { costOf, fixtureSchema, nested, prepare } from "./fixture.ts";
import { costNaively } from "./naive.ts";
import { documents, pricedSchema } from "./random-documents.ts";

function compiled(schema: GraphQLSchema, source: string): StaticCost {
  const document = parse(source);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("no operation");
  return compileStaticCost(schema, document, operation);
}

describe("the cost of an operation", () => {
  it.each([
    ["{ hello hello }", 2],
    ["{ ...F ...F } fragment F on Query { hello a { id } }", 6],
    ["{ hello @skip(if: true) free dear __typename }", 5002],
    ["{ __schema { types { name } } }", 3],
    [nested(12, "plain"), 13],
    [nested(12, "list"), 8191],
    [nested(11, "list(first: 2)"), 4095],
    ["{ list(first: 1000000) { list(first: 1000000) { id } } }", 10_101],
    ["{ list(first: -5) { id } }", 1],
    ["{ twenty { id a { id } } }", 61],
    ["{ list(first: null) { id } }", 101],
    ["{ list(first: 0) { id } x: list { ... { id } } }", 4],
    ["mutation { login }", 1],
  ])("of %s is %d", (source, cost) => {
    expect(costOf(source)).toBe(cost);
  });

  it.each([
    [{ n: 1 }, 3],
    [{ n: 10 }, 111],
    [{ n: 9.5 }, 111],
    [{ n: "many" }, 10_101],
    [{ n: 1_000_000 }, 10_101],
    [{ n: -5 }, 1],
    [{ n: null }, 10_101],
    [{}, 7],
    [JSON.parse('{"__proto__": 3}') as object, 7],
    [{ n: 10n }, 111],
  ])("follows the variables: %o", (variables, cost) => {
    const prepared = prepare("query ($n: Int) { list(first: $n) { list(first: $n) { id } } }");

    expect(prepared.cost?.(variables as never)).toBe(cost);
  });

  it("includes a fragment with variables each time it is spread", () => {
    const cost = costOf(
      "query ($n: Int) { a { ...F } list(first: $n) { ...F } } fragment F on A { id list(first: $n) { id } }",
      { n: 3 },
    );

    expect(cost).toBe(1 + 5 + 1 + 3 * 5);
  });

  it("is 1 for a field whose extensions mean something else", () => {
    const schema = buildSchema("type Query { a(first: Int): [Query] c: Int }");
    const { a = {} } = schema.getQueryType()?.getFields() ?? {};
    for (const extensions of [
      { cost: { complexity: 5 }, listSize: "many" },
      { cost: -1.5, listSize: { argument: "first", max: Number.POSITIVE_INFINITY } },
      { cost: -1, listSize: -1 },
      { cost: null, listSize: null },
      { listSize: { max: 5 } },
      { listSize: { argument: 1, max: 5 } },
      { listSize: { argument: [], max: 5 } },
      { listSize: { argument: "first" } },
      { listSize: { argument: "first", max: 5, assumed: -1 } },
    ]) {
      Object.assign(a, { extensions });
      expect([extensions, compiled(schema, "{ a(first: 3) { c } }")({})]).toEqual([extensions, 2]);
    }
  });

  it("follows the largest of several arguments, and the assumed size if all are missing", () => {
    const schema = buildSchema("type Query { a(first: Float, last: Float): [Query] c: Int }");
    const { a = {} } = schema.getQueryType()?.getFields() ?? {};
    Object.assign(a, { extensions: { listSize: { argument: ["first", "last"], max: 50, assumed: 7 } } });
    const cost = (args: string, variables = {}): number =>
      compiled(schema, `query ($n: Float) { a${args} { c } }`)(variables);

    expect([cost("(first: 3, last: 5)"), cost("(first: 5, last: 3)"), cost("(last: 2.5)")]).toEqual([6, 6, 4]);
    expect([cost(""), cost("(first: null)"), cost('(first: "5")')]).toEqual([8, 8, 51]);
    expect([cost("(first: $n, last: 3)", { n: 5 }), cost("(first: $n, last: 3)", { n: 1 })]).toEqual([6, 4]);
    expect([cost("(first: $n, last: 3)"), cost("(first: $n)")]).toEqual([4, 8]);
  });

  it("uses the most expensive type that implements an interface", () => {
    const schema = buildSchema(`
      interface Node { items(first: Int): [Node] }
      type Book implements Node { items(first: Int = 5): [Node] }
      type Shop implements Node { items(first: Int): [Node] }
      type Safe implements Node { items(first: Int): [Node] }
      type Query { node: Node }
    `);
    const itemsOf = (name: string) => (schema.getType(name) as GraphQLObjectType).getFields()["items"] ?? {};
    Object.assign(itemsOf("Book"), { extensions: { listSize: { argument: "first", max: 10 } } });
    Object.assign(itemsOf("Shop"), { extensions: { cost: 7, listSize: 3 } });

    expect(compiled(schema, "{ node { items { __typename } } }")({})).toBe(1 + 7 + 5);
    expect(compiled(schema, "{ node { items(first: 2) { __typename } } }")({})).toBe(1 + 7 + 3);
    expect(compiled(schema, "query ($n: Int) { node { items(first: $n) { __typename } } }")({ n: 8 })).toBe(1 + 7 + 8);
    Object.assign(itemsOf("Safe"), { extensions: { listSize: 0 } });
    Object.assign(itemsOf("Shop"), { extensions: { cost: 7, listSize: 0 } });
    expect(compiled(schema, "{ node { items(first: 0) { __typename } } }")({})).toBe(1 + 7 + 0);
    Object.assign(itemsOf("Shop"), { extensions: { cost: 7 } });
    expect(compiled(schema, "{ node { items(first: 0) { __typename } } }")({})).toBe(1 + 7 + 1);
    expect(compiled(schema, "{ node { ... on Shop { items { __typename } } } }")({})).toBe(1 + 7 + 1);
  });

  it("stops at the largest safe integer", () => {
    const source = nested(30, "list(first: $n)").replace("{", "query ($n: Int) {");

    expect(compiled(fixtureSchema(), source)({ n: 100 })).toBe(Number.MAX_SAFE_INTEGER);
    expect(compiled(fixtureSchema(), nested(30, "list(first: 100)"))({})).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("is not computed while the limit is off", () => {
    expect(prepare("{ dear dear }", { limits: { cost: null } }).cost).toBeNull();
  });

  it("equals the result of a counter that expands every fragment", () => {
    const schema = pricedSchema();
    const numbers = fc.option(fc.integer({ min: -2, max: 12 }));
    const variables = fc.record({ n: numbers, m: numbers }, { requiredKeys: ["m"] });
    fc.assert(
      fc.property(documents, variables, (source, values) => {
        expect(compiled(schema, source)(values)).toBe(costNaively(parse(source), values));
      }),
      { numRuns: 500 },
    );
  });
});
