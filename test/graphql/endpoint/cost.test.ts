import { field, Limits, type ObjectType, object, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, codesOf, type GraphBody, open, openSchema, verdictOf } from "./open.ts";

interface Book {
  readonly title: string;
}
const Book: ObjectType<Book> = object("Book", { title: t.string });
const books: readonly Book[] = [{ title: "Middlemarch" }];
const sized = { limit: t.arg(t.nullable(t.int), { default: 10 }) };

/** Lists of every way to say how long they are. */
const shelf = schema({
  query: {
    dear: field(t.string, { cost: 5 })(() => "dear"),
    dearest: field(t.string, { cost: 5001 })(() => "dearest"),
    plain: field(t.string)(() => "plain"),
    books: field(t.list(Book), { params: sized, listSize: { argument: "limit", max: 100 } })(() => books),
    assumed: field(t.list(Book), {
      params: { limit: t.nullable(t.int) },
      listSize: { argument: "limit", max: 100, assumed: 20 },
    })(() => books),
    twenty: field(t.list(Book), { listSize: 20 })(() => books),
    undeclared: field(t.list(Book), { params: { first: t.nullable(t.int) } })(() => books),
  },
});

/** `extensions.cost.cost` of a query on the shelf. */
async function costOf(query: string, variables: Record<string, unknown> = {}): Promise<number | undefined> {
  const { client } = await openSchema(shelf, { limits: { cost: 1_000_000 } });
  const answer = await client.post("/graphql", { body: { query, variables } });
  expect(answer.status).toBe(200);
  return bodyOf(answer).extensions?.cost?.["cost"];
}

describe("extensions.cost", () => {
  it("[CST-01] is in every response: to a POST, to a GET, in each entry of a batch", async () => {
    const { client } = await open();
    const hello = { query: "{ hello }" };

    const posted = bodyOf(await client.post("/graphql", { body: hello }));
    const got = bodyOf(await client.get("/graphql", { query: hello }));
    const batch = (await client.post("/graphql", { body: [hello, hello] })).json() as readonly GraphBody[];

    for (const { extensions } of [posted, got, ...batch])
      expect(extensions?.cost).toEqual({ depth: 1, cost: 1, aliases: 0, breadth: 1, fields: 1 });
  });

  it("[CST-02] has the depth, cost, aliases, breadth and fields of the operation, and nothing else", async () => {
    const { client } = await open();
    const query = "{ hello x: hello a { id a { y: id plain { id } } } }";

    const answer = await client.post("/graphql", { body: { query } });

    expect(bodyOf(answer).extensions).toEqual({ cost: { depth: 4, cost: 8, aliases: 2, breadth: 3, fields: 8 } });
  });

  it("[CST-03] [CST-04] is absent with cost: null, which disables the analysis", async () => {
    const { client } = await openSchema(shelf, { limits: new Limits({ cost: null }) });

    const answer = await client.post("/graphql", { body: { query: "{ dearest }" } });

    expect([answer.status, bodyOf(answer)]).toEqual([200, { data: { dearest: "dearest" } }]);
  });

  it("[CST-05] counts the widest selection set as breadth, with fragments expanded", async () => {
    const { client } = await open();
    const query = "{ hello ...Three } fragment Three on Query { x: hello y: hello z: hello }";

    const answer = await client.post("/graphql", { body: { query } });

    expect(bodyOf(answer).extensions?.cost).toMatchObject({ breadth: 4 });
  });

  it("[CST-06] [CST-07] counts fields and cost for every selection and every spread", async () => {
    const { client } = await open();
    const query = "{ ...F ...F hello hello a { id id } } fragment F on Query { hello a { id } }";

    const answer = await client.post("/graphql", { body: { query } });

    expect(bodyOf(answer).extensions?.cost).toMatchObject({ fields: 11, cost: 11 });
  });
});

describe("a field", () => {
  it("[FLD-01] with a cost counts that, each time it is selected", async () => {
    expect(await costOf("{ x: dear y: dear }")).toBe(10);
  });

  it("[FLD-02] without one counts 1", async () => {
    expect(await costOf("{ plain other: plain }")).toBe(2);
  });
});

describe("a list", () => {
  it("[CST-09] with a size argument multiplies its selection by that argument, literal or variable", async () => {
    expect(await costOf("{ books(limit: 10) { title } }")).toBe(11);
    expect(await costOf("query ($n: Int) { books(limit: $n) { title x: title } }", { n: 7 })).toBe(15);
  });

  it("[CST-10] with a fixed size multiplies its selection by it; an argument takes precedence", async () => {
    expect(await costOf("{ twenty { title } }")).toBe(21);
    expect(await costOf("{ assumed { title } }")).toBe(21);
    expect(await costOf("{ assumed(limit: 3) { title } }")).toBe(4);
  });

  it("[CST-11] without a declared size multiplies nothing, whatever its arguments are called", async () => {
    expect(await costOf("{ undeclared(first: 10) { title } }")).toBe(2);
  });

  it("[CST-12] has a size between 0 and its maximum", async () => {
    expect(await costOf("{ books(limit: -5) { title } }")).toBe(1);
    expect(await costOf("{ books(limit: 1000000) { title } }")).toBe(101);
    expect(await costOf("query ($n: Int) { books(limit: $n) { title } }", { n: 1_000_000 })).toBe(101);
  });

  it("[CST-13] uses the default of its argument when that is omitted", async () => {
    expect(await costOf("{ books { title } }")).toBe(11);
    expect(await costOf("query ($n: Int) { books(limit: $n) { title } }")).toBe(11);
  });
});

describe("measuring", () => {
  const chain = (length: number): string =>
    `{ ...F0 } ${Array.from({ length }, (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`).join(" ")} fragment F${length} on Query { hello }`;

  it("[CST-08] is linear in the document and saturates: a fan-out of fragments is refused with a finite count", async () => {
    const { client, ran } = await open();
    const loose = await open({ limits: { fields: null, breadth: null } });

    const answers = [await client.post("/graphql", { body: { query: chain(30) } })];
    answers.push(
      await loose.client.post("/graphql", { body: { query: chain(30) } }),
      await loose.client.post("/graphql", { body: { query: chain(90) } }),
    );

    expect(answers.map(verdictOf)).toEqual([
      [400, "BREADTH_LIMIT_EXCEEDED"],
      [400, "COST_LIMIT_EXCEEDED"],
      [400, "COST_LIMIT_EXCEEDED"],
    ]);
    expect(answers.map((answer) => /is (\d+); the limit/.exec(bodyOf(answer).errors?.[0]?.message ?? "")?.[1])).toEqual(
      [String(2 ** 30), String(2 ** 30), String(Number.MAX_SAFE_INTEGER)],
    );
    expect(ran).toEqual({});
  });

  it("[CST-15] happens after validation and coercion, again for each set of variables", async () => {
    const { client } = await openSchema(shelf, { limits: { cost: 50 } });
    const query = "query ($n: Int) { books(limit: $n) { title } }";
    const ask = async (document: string, n: unknown) =>
      client.post("/graphql", { body: { query: document, variables: { n } } });

    const [small, large, again] = [await ask(query, 10), await ask(query, 60), await ask(query, 10)];
    const invalid = await ask("query ($n: Int) { books(limit: $n) { title } nope }", 60);
    const text = await ask(query, "x");

    expect([small.status, large.status, again.status]).toEqual([200, 400, 200]);
    expect(codesOf(large)).toEqual(["COST_LIMIT_EXCEEDED"]);
    expect(codesOf(invalid)).toEqual(["GRAPHQL_VALIDATION_FAILED"]);
    expect(codesOf(text)).toEqual(["BAD_USER_INPUT"]);
  });
});
