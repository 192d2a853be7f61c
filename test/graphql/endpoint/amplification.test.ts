import { buildSchema, getIntrospectionQuery } from "graphql";
import { PorticoApp } from "portico";
import { Graph } from "portico/graphql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const types = buildSchema(`
  type Item { id: ID }
  input Filter { size: Int, and: [Filter!] }
  type Query { all: [Item], find(by: Filter): Int }
`);

/** The first error of the response, or nothing. */
async function errorOf(query: string, variables: object = {}): Promise<string> {
  const app = new PorticoApp({ logger: false });
  new Graph(types, { introspection: true }).mount(app);
  const response = await testClient(app).post("/graphql", { body: { query, variables } });
  const [error] = (response.json() as { errors?: { message: string; extensions: { code: string } }[] }).errors ?? [];
  return error === undefined ? "" : `${response.status} ${error.extensions.code}: ${error.message}`;
}

describe("an alias", () => {
  it("has at most 256 characters, also in a fragment: each item of a list repeats it", async () => {
    const named = (length: number): string =>
      `{ all { ...I } } fragment I on Item { ... { ${"a".repeat(length)}: id } }`;

    expect(await errorOf(named(256))).toBe("");
    expect(await errorOf(named(257))).toBe(
      "400 ALIAS_LIMIT_EXCEEDED: The document has an alias of 257 characters; the limit is 256",
    );
  });

  it.each([
    "{ all { LONG: id } find }",
    "{ LONG: find all { id } x: find }",
    "{ ... { LONG: find } ...F } fragment F on Query { find }",
    "{ find ...F } fragment F on Query { all { LONG: id } x: find }",
  ])("has at most 256 characters wherever it is: %s", async (query) => {
    expect(await errorOf(query.replace("LONG", "a".repeat(257)))).toMatch(/^400 ALIAS_LIMIT_EXCEEDED/);
  });
});

describe("introspection", () => {
  const tooMuch = "400 GRAPHQL_VALIDATION_FAILED: Maximum introspection depth exceeded";

  it("runs the query that tools send", async () => {
    expect(await errorOf(getIntrospectionQuery())).toBe("");
  });

  it.each([
    ["lists of fields within lists of fields", "{ __schema { types { fields { type { fields { name } } } } } }"],
    [
      "lists that nest through fragments",
      '{ x: __type(name: "Item") { ...T } } fragment T on __Type { fields { ...F } } fragment F on __Field { type { interfaces { name } } }',
    ],
    [
      "lists within lists, in a fragment beside other fields",
      "{ find ...S all { id } } fragment S on Query { __schema { types { fields { type { fields { name } } } } } find }",
    ],
    [
      "lists within lists, before less",
      '{ __schema { types { fields { type { fields { name } } } } } __type(name: "Item") { name } }',
    ],
    [
      "the schema many times",
      `{ ${["a", "b", "c", "d"].map((name) => `${name}: __schema { types { name } }`).join(" ")} }`,
    ],
  ])("does not multiply: %s", async (_, query) => {
    expect(await errorOf(query)).toBe(tooMuch);
  });

  it("does not limit fields with the names of its lists", async () => {
    expect(await errorOf("{ fields { fields { fields } } }")).toContain('Cannot query field "fields"');
  });
});

describe("a variable", () => {
  const query = "query ($by: Filter) { find(by: $by) }";

  it("is rejected immediately when it has more fields than its type", async () => {
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, 1]));

    expect(await errorOf(query, { by: wide })).toBe(
      '400 BAD_USER_INPUT: Variable "$by" contains an object with more fields than its type "Filter"',
    );
    expect(await errorOf(query, { by: { and: [{ size: 1 }, { and: [wide] }] } })).toContain(
      "more fields than its type",
    );
  });

  it("keeps the messages of graphql for a misspelt field", async () => {
    expect(await errorOf(query, { by: { sise: 1 } })).toMatch(
      // The sentences of graphql 16 and 17.
      /Field "sise" is not defined by type "Filter"|type "Filter" not to include unknown field "sise"/,
    );
  });

  it("may be null at any level, and is the client's mistake if it has an object in place of a number", async () => {
    expect(await errorOf(query, { by: null })).toBe("");
    expect(await errorOf(query, { by: { and: null } })).toBe("");
    expect(await errorOf(query, { by: { size: { and: [] } } })).toMatch(/^400 BAD_USER_INPUT: Variable "\$by"/);
  });

  it("is rejected when it is nested more than 500 levels deep", async () => {
    const nested = (levels: number): unknown => (levels === 0 ? {} : { and: [nested(levels - 1)] });

    expect(await errorOf(query, { by: nested(500) })).toBe("");
    expect(await errorOf(query, { by: nested(501) })).toBe(
      '400 BAD_USER_INPUT: Variable "$by" contains objects nested more than 500 levels deep',
    );
  });
});
