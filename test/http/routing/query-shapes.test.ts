import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { PorticoApp } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

type JSONSchema = Readonly<Record<string, unknown>>;
type DescribedSchema = StandardSchemaV1<unknown, any> & StandardJSONSchemaV1<unknown, any>;

/** A schema that accepts every query and describes itself with this JSON Schema. */
function schemaOf(input: JSONSchema | (() => never)): DescribedSchema {
  const convert = (): JSONSchema => (typeof input === "function" ? input() : input);
  const jsonSchema = { input: convert, output: () => ({}) };
  return { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), jsonSchema } };
}

/** The query that a handler receives. */
async function queryOf(input: Parameters<typeof schemaOf>[0], search: string): Promise<unknown> {
  const app = new PorticoApp({ logger: false }).get("/", { query: schemaOf(input) }, ({ query }) => ({ query }));
  return ((await testClient(app).get(`/?${search}`)).json() as { readonly query: unknown }).query;
}

const list = { type: "array", items: { type: "string" } };
const text = { type: "string" };
const $defs = { Tags: list };

describe("a query parameter that comes once is a list of one", () => {
  it.each<[string, JSONSchema]>([
    ["a list", { properties: { tag: list } }],
    ["an alternative of lists by anyOf", { properties: { tag: { anyOf: [list, list] } } }],
    ["an alternative of lists by oneOf", { properties: { tag: { oneOf: [list, list] } } }],
    ["lists together by allOf", { properties: { tag: { allOf: [list, list] } } }],
    ["a list or null", { properties: { tag: { anyOf: [{ type: "null" }, list] } } }],
    ["a reference to $defs", { properties: { tag: { $ref: "#/$defs/Tags" } }, $defs }],
    ["a reference to definitions", { properties: { tag: { $ref: "#/definitions/Tags" } }, definitions: $defs }],
    [
      "a reference that $defs and definitions both have, of which the first is newer",
      { properties: { tag: { $ref: "#/$defs/Tags" } }, $defs, definitions: { Tags: text } },
    ],
    [
      "a reference to a reference",
      { properties: { tag: { $ref: "#/$defs/Own" } }, $defs: { ...$defs, Own: { $ref: "#/$defs/Tags" } } },
    ],
    [
      "a reference to itself",
      { properties: { tag: { $ref: "#/$defs/Own" } }, $defs: { Own: { anyOf: [{ $ref: "#/$defs/Own" }, list] } } },
    ],
    ["a reference for the whole query", { $ref: "#/$defs/Query", $defs: { Query: { properties: { tag: list } } } }],
    ["one of two shapes, the other of which accepts anything", { anyOf: [{ properties: { tag: list } }, {}] }],
    [
      "one of two shapes, the other of which does not mention it",
      { anyOf: [{ properties: { tag: list } }, { properties: { other: text } }] },
    ],
    ["properties beside allOf", { properties: { tag: list }, allOf: [{ properties: { other: text } }] }],
    ["properties inside allOf", { properties: { other: text }, allOf: [{ properties: { tag: list } }] }],
  ])("for %s", async (_kind, schema) => {
    expect(await queryOf(schema, "tag=1&other=2")).toEqual({ tag: ["1"], other: "2" });
  });
});

describe("a query parameter that comes once stays text", () => {
  it.each<[string, JSONSchema]>([
    ["text", { properties: { tag: text } }],
    ["a schema that accepts anything", { properties: { tag: true } }],
    ["a schema that accepts only null", { properties: { tag: { type: "null" } } }],
    ["text or a list", { properties: { tag: { anyOf: [text, list] } } }],
    ["a list or text", { properties: { tag: { oneOf: [list, text] } } }],
    ["a list in one of two shapes", { anyOf: [{ properties: { tag: list } }, { properties: { tag: text } }] }],
    ["a list in the other of two shapes", { anyOf: [{ properties: { tag: text } }, { properties: { tag: list } }] }],
    ["text beside a list in allOf", { properties: { tag: text }, allOf: [{ properties: { tag: list } }] }],
    ["a reference to another document", { properties: { tag: { $ref: "tags.json#/$defs/Tags" } }, $defs }],
    ["a reference to a part of a definition", { properties: { tag: { $ref: "#/$defs/Tags/items" } }, $defs }],
    ["a reference elsewhere in the document", { properties: { tag: { $ref: "#/parts/Tags" } }, $defs, parts: $defs }],
    ["a reference to a definition that is missing", { properties: { tag: { $ref: "#/$defs/Missing" } }, $defs }],
    ["a reference without definitions", { properties: { tag: { $ref: "#/$defs/Tags" } } }],
    ["a schema that declares nothing", {}],
    ["a schema that declares only its type", { type: "object" }],
  ])("for %s", async (_kind, schema) => {
    expect(await queryOf(schema, "tag=1")).toEqual({ tag: "1" });
  });

  it("for a schema whose library cannot convert it", async () => {
    const fail = (): never => {
      throw new Error("not representable");
    };

    expect(await queryOf(fail, "tag=1")).toEqual({ tag: "1" });
  });
});

it("a query parameter that comes several times, or not at all, stays what it is", async () => {
  const schema = { properties: { tag: list, other: list } };

  expect(await queryOf(schema, "tag=1&tag=2")).toEqual({ tag: ["1", "2"] });
  expect(await queryOf(schema, "tag=1&tag=2&other=3")).toEqual({ tag: ["1", "2"], other: ["3"] });
});

describe("the pagination parameters of a route", () => {
  /** The query that the handler of a route with pages receives. */
  async function besidePages(input: JSONSchema, search: string): Promise<unknown> {
    const options = { query: schemaOf(input), paginated: { strategy: "page_number", item: schemaOf({}) } } as const;
    const app = new PorticoApp({ logger: false }).get("/", options, ({ query, response }) =>
      response.header("x-query", JSON.stringify(query)).paginate([], { strategy: "page_number" }),
    );
    return JSON.parse(String((await testClient(app).get(`/?${search}`)).headers["x-query"]));
  }

  it("are left out of its query, and other parameters stay", async () => {
    const schema = { properties: { tag: list, author: text } };

    expect(await besidePages(schema, "page=1&page_size=2&tag=1&author=Austen")).toEqual({
      tag: ["1"],
      author: "Austen",
    });
    expect(await besidePages(schema, "page=1&author=Austen")).toEqual({ author: "Austen" });
    expect(await besidePages(schema, "author=Austen")).toEqual({ author: "Austen" });
  });

  it("stay in it if the schema declares them, or declares nothing", async () => {
    expect(await besidePages({ properties: { page: text } }, "page=1&page_size=2")).toEqual({ page: "1" });
    expect(await besidePages({}, "page=1&page_size=2")).toEqual({ page: "1", page_size: "2" });
  });
});
