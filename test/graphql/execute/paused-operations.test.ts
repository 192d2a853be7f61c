import { field, loader, type ObjectType, object, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { bodyOf, openSchema } from "../endpoint/open.ts";
import { controlWorkTime, workTime } from "./work-time.ts";

controlWorkTime();

interface Node {
  readonly id: number;
}
const numbered = (count: number): readonly Node[] => Array.from({ length: count }, (_, id) => ({ id }));

describe("an operation whose lists pause", () => {
  it("makes one call of a loader per level, however long the lists are", async () => {
    const calls: [level: string, keys: number][] = [];
    const level = (name: string) =>
      loader((ids: readonly number[]) => {
        calls.push([name, ids.length]);
        return ids.map((id) => ({ id }));
      });
    const [authors, cities] = [level("authors"), level("cities")];
    const City: ObjectType<Node> = object("City", { id: t.int });
    const Author: ObjectType<Node> = object("Author", {
      id: t.int,
      city: field(City)(({ ctx, parent }) => cities.load(ctx, parent.id)),
    });
    const Book: ObjectType<Node> = object("Book", {
      id: t.int,
      authors: field(t.list(Author))(async ({ ctx, parent }) => [
        await authors.load(ctx, parent.id),
        await authors.load(ctx, parent.id),
      ]),
    });
    const own = schema({ query: { books: field(t.list(Book))(() => numbered(3_000)) } });
    const { client } = await openSchema(own);
    workTime(2);

    const response = await client.post("/graphql", { body: { query: "{ books { id authors { city { id } } } }" } });

    const { data, errors } = bodyOf(response);
    expect(errors).toBeUndefined();
    expect(data?.["books"]).toHaveLength(3_000);
    expect(calls).toEqual([
      ["authors", 3_000],
      ["cities", 3_000],
    ]);
  });

  it("has the same text as a response that is written without a pause", async () => {
    const Odd = t.scalar("Odd", { serialize: (value: unknown) => value, parse: (value: unknown) => value });
    const odd = [
      { toJSON: () => [1] },
      new Date(0),
      [undefined, () => 1, { a: undefined, b: Symbol("s"), c: {} }],
      { '"': "\u2028", ["__proto__"]: 1 },
      Array.from({ length: 500 }, (_, n) => ({ n, text: n % 3 === 0 ? undefined : "x" })),
      Object.fromEntries(numbered(500).map(({ id }) => [`k${id}`, id % 2 === 0 ? undefined : { id }])),
      [],
      {},
    ];
    const Item: ObjectType<Node> = object("Item", { id: t.int, odd: field(Odd)(({ parent }) => odd[parent.id % 8]) });
    const query = "{ items { id odd } empty: none { id } }";
    const own = schema({
      query: { items: field(t.list(Item))(() => numbered(2_500)), none: field(t.list(Item))(() => []) },
    });
    const { client } = await openSchema(own, { limits: { cost: null } });
    workTime(1);

    const response = await client.post("/graphql", { body: { query } });

    const items = numbered(2_500).map(({ id }) => ({ id, odd: odd[id % 8] }));
    expect(response.text()).toBe(JSON.stringify({ data: { items, empty: [] } }));
  });

  it("is an unexpected error if its data cannot be serialized", async () => {
    const Odd = t.scalar("Odd", { serialize: (value: unknown) => value, parse: (value: unknown) => value });
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const Item: ObjectType<Node> = object("Item", {
      id: t.int,
      odd: field(Odd)(({ parent }) => (parent.id === 2_400 ? cycle : 1)),
    });
    const { client } = await openSchema(schema({ query: { items: field(t.list(Item))(() => numbered(2_500)) } }));

    const response = await client.post("/graphql", { body: { query: "{ items { id odd } }" } });

    expect(response.status).toBe(200);
    expect(bodyOf(response)).toMatchObject({ data: null, errors: [{ message: "Unexpected error" }] });
  });
});

describe("an operation with thousands of errors", () => {
  const secret = field(t.nullable(t.string), { auth: true })(() => "s");
  const Item: ObjectType<Node> = object("Item", {
    id: t.int,
    secret,
    broken: field(t.nullable(t.string))(({ parent }) => {
      if (parent.id === 2_900) throw new Error("db at 10.0.0.1");
      return "fine";
    }),
  });
  const own = schema({ query: { items: field(t.list(Item), { listSize: 3_000 })(() => numbered(3_000)) } });

  it("[ERR-14] lists ten of them with their own paths and ids, and the number of the others", async () => {
    const { client } = await openSchema(own, { limits: { cost: null } });
    workTime(2);

    const response = await client.post("/graphql", { body: { query: "{ items { id secret } }" } });

    const { data, errors = [] } = bodyOf(response);
    expect(data?.["items"]).toHaveLength(3_000);
    expect(errors.slice(0, 10).map(({ path }) => path)).toEqual(numbered(10).map(({ id }) => ["items", id, "secret"]));
    expect(new Set(errors.map(({ extensions }) => extensions["correlationId"])).size).toBe(11);
    expect(errors[10]).toMatchObject({
      message: "2990 more errors are not listed",
      extensions: { code: "TOO_MANY_ERRORS", count: 2_990 },
    });
  });

  it("lists an unexpected error also if it is the last of them", async () => {
    const { client } = await openSchema(own, { limits: { cost: null } });

    const response = await client.post("/graphql", { body: { query: "{ items { secret broken } }" } });

    const { errors = [] } = bodyOf(response);
    expect(errors.find(({ message }) => message === "Unexpected error")?.path).toEqual(["items", 2_900, "broken"]);
    expect(errors.at(-1)?.extensions["count"]).toBe(2_991);
  });
});
