import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { ConfigurationError, PorticoApp } from "portico";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { overBoth } from "../matrix.ts";

const people = [
  { id: 1, name: "Ann", pay: 91, joined: new Date(5) },
  { id: 2, name: "Bob", pay: 45, joined: new Date(9) },
];
const byPay = new CursorPagination({ sortable: ["pay"] });
const byJoined = new CursorPagination({ sortable: ["joined"] });
const ofPay = new PageNumberPagination({ filterable: { salary: { column: "pay", type: "integer", by: ["range"] } } });
const base = { id: z.number(), name: z.string() };

const declare = (item: unknown, strategy: object = byPay): PorticoApp =>
  new PorticoApp({ logger: false }).get("/staff", { paginated: { strategy, item } as never }, ({ response }) =>
    response.paginate(people, { strategy } as never),
  );

describe("the item schema of a route with a sortable column", () => {
  it.each<[string, unknown]>([
    ["zod", z.object({ ...base, pay: z.int() })],
    ["zod, nullable and optional", z.object({ ...base, pay: z.number().nullable().optional() })],
    ["zod, a definition", z.object({ ...base, pay: z.int().meta({ id: "Pay" }) })],
    ["zod, a nullable definition", z.object({ ...base, pay: z.int().meta({ id: "Sum" }).nullable() })],
    ["zod, a named item", z.object({ ...base, pay: z.int() }).meta({ id: "Person" })],
    ["zod, an intersection", z.intersection(z.object(base), z.object({ pay: z.number() }))],
    ["zod, all alternatives", z.union([z.object({ ...base, pay: z.number() }), z.object({ pay: z.number() })])],
    ["valibot", toStandardJsonSchema(v.object({ name: v.string(), pay: v.number() }))],
    ["arktype", type({ name: "string", pay: "number" })],
    ["arktype, beside a transformation", type({ name: type("string").pipe((name) => name[0]), pay: "number" })],
    ["valibot, with actions", toStandardJsonSchema(v.object({ pay: v.pipe(v.number(), v.minValue(0), v.integer()) }))],
  ])("returns it: %s", (_library, item) => {
    expect(() => declare(item)).not.toThrow();
  });

  it.each<[string, unknown]>([
    ["it has no such property", z.object(base)],
    ["a transformation", z.object({ ...base, pay: z.number().transform((pay) => pay > 50) })],
    ["one that ends in the same type", z.object({ ...base, pay: z.number().transform(Math.sign).pipe(z.number()) })],
    ["one that keeps the type", z.object({ ...base, pay: z.number().overwrite(Math.sign) })],
    ["a codec", z.object({ ...base, pay: z.codec(z.number(), z.number(), { decode: () => 0, encode: () => 0 }) })],
    ["a conversion", z.object({ ...base, pay: z.coerce.boolean() })],
    ["anything", z.object({ ...base, pay: z.any() })],
    [
      "a transformation of the item",
      z.object({ ...base, pay: z.number() }).transform(({ name }) => ({ name, pay: 0 })),
    ],
    [
      "a transformation of the item that ends in the same type",
      z
        .object({ ...base, pay: z.number() })
        .transform((row) => ({ ...row, pay: 0 }))
        .pipe(z.object({ ...base, pay: z.number() })),
    ],
    [
      "a definition with a transformation",
      z.object({ ...base, pay: z.number().transform(Math.sign).pipe(z.number()).meta({ id: "Sign" }).nullable() }),
    ],
    ["one alternative without it", z.union([z.object({ ...base, pay: z.number() }), z.object(base)])],
    ["a record", z.record(z.string(), z.unknown())],
    [
      "valibot, a transformation",
      toStandardJsonSchema(
        v.object({
          pay: v.pipe(
            v.number(),
            v.transform(() => "high"),
          ),
        }),
      ),
    ],
    ["arktype, a transformation", type({ pay: type("number").pipe(() => "high") })],
    [
      "valibot, one that ends in the same type",
      toStandardJsonSchema(v.object({ pay: v.pipe(v.number(), v.transform(Math.sign), v.number()) })),
    ],
    [
      "valibot, a transformation of the item",
      toStandardJsonSchema(
        v.pipe(
          v.object({ pay: v.number() }),
          v.transform(() => ({ pay: 0 })),
          v.object({ pay: v.number() }),
        ),
      ),
    ],
    ["arktype, one that ends in the same type", type({ pay: type("number").pipe(Math.sign).to("number") })],
    ["no JSON Schema, valibot", v.object({ pay: v.number() })],
    ["no JSON Schema", { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) } }],
  ])("stops startup if it does not return the column unchanged: %s", (_why, item) => {
    expect(() => declare(item)).toThrow(ConfigurationError);
    expect(() => declare(item)).toThrow(
      'GET /staff is sortable by pay, but its item schema does not return pay unchanged, so clients could determine its values one request at a time: remove pay from sortable, add pay to the item schema, without a transformation, or declare pay as { column: "pay", public: true } if every caller of the list may know its values',
    );
  });

  it("returns dates as they are, although they have no JSON Schema", () => {
    for (const joined of [z.date(), z.date().nullable()])
      expect(() => declare(z.object({ ...base, joined }), byJoined)).not.toThrow();
    expect(() => declare(toStandardJsonSchema(v.object({ joined: v.date() })), byJoined)).not.toThrow();
    expect(() => declare(type({ joined: "Date" }), byJoined)).not.toThrow();
    for (const item of [
      z.object({ ...base, joined: z.date().transform((at) => at.getFullYear()) }),
      toStandardJsonSchema(
        v.object({
          joined: v.pipe(
            v.date(),
            v.transform((at) => at.getFullYear()),
          ),
        }),
      ),
      type({ joined: type("Date").pipe((at) => at.getFullYear()) }),
    ])
      expect(() => declare(item, byJoined)).toThrow("does not return joined unchanged");
  });

  it("counts for filters and for pages by number too", () => {
    expect(() => declare(z.object(base), ofPay)).toThrow("or add public: true to the filter salary");
    expect(() => declare(z.object({ ...base, pay: z.int() }), ofPay)).not.toThrow();
  });

  it.each<[string, unknown]>([
    ["zod", z.object({ ...base, pay: z.int().nullable() })],
    ["arktype", type({ pay: "number | null" })],
    ["valibot", toStandardJsonSchema(v.object({ pay: v.nullable(v.number()) }))],
  ])("stops startup if a filter compares its numbers as text: %s", (_library, item) => {
    const byText = new CursorPagination({ filterable: { pay: { type: "text", by: ["prefix"] } } });

    expect(() => declare(item, byText)).toThrow(
      'GET /staff is filterable by pay as text, but its item schema returns numbers for pay: declare the filter with the type "integer" or "number"',
    );
  });

  it("is required, if response describes the body", () => {
    const declared = { paginated: { strategy: byPay }, response: z.object({ pay: z.number() }) } as never;

    expect(() => new PorticoApp().get("/staff", declared, (() => {}) as never)).toThrow(
      "GET /staff is sortable by pay, but no item schema says that its items contain pay",
    );
  });
});

overBoth(
  "a route that declares no item schema fails in every request, until each column is public",
  () =>
    new PorticoApp({ logger: false })
      .get("/hidden", ({ response }) => response.paginate(people, { strategy: byPay }))
      .get("/page", async ({ response }) => (await response.page(people, { strategy: ofPay })).items.length)
      .get("/named", ({ response }) => response.apaginate(people, { strategy: "cursor", sortable: ["pay"] }))
      .get("/public", ({ response }) =>
        response.paginate(people, { strategy: "cursor", sortable: [{ column: "pay", public: true }] }),
      ),
  async (client) => {
    for (const path of ["/hidden", "/hidden?sort=pay", "/page", "/page?salary.lt=50", "/named"])
      expect((await client.get(path)).status).toBe(500);
    expect((await client.get("/public?sort=pay")).json()).toMatchObject({ items: [{ name: "Bob" }, { name: "Ann" }] });
  },
);

it("a handler cannot use another strategy than its route declares, to sort by a hidden column", async () => {
  const log = logCatcher();
  const item = z.object(base);
  const app = new PorticoApp({ logger: log }).get("/staff", { paginated: { strategy: "page_number", item } }, (({
    response,
  }: any) => response.paginate(people, { strategy: byPay })) as never);

  expect((await testClient(app).get("/staff?sort=pay")).status).toBe(500);
  expect(log.text).toContain("/staff is sortable by pay, but its item schema does not return pay unchanged");
});
