import { PorticoApp } from "portico";
import { connection, field, Graph, type ObjectType, object, printSchema, schema, t } from "portico/graphql";
import { CursorPagination, SyncListDataHandler } from "portico/pagination";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { ask, data } from "./ask.ts";

const Status = t.enum("Status", {
  ACTIVE: 1,
  SOLD: { value: 2, description: "Not for sale." },
  plain: {},
  WORD: "a word with spaces",
});
type Status = 1 | 2 | "plain" | "a word with spaces";

describe("an enum with values of the application", () => {
  const built = schema({
    query: {
      next: field(Status, { params: { status: Status(1) } })(({ status }): Status => (status === 1 ? 2 : status)),
      all: field(t.list(Status))(() => [1, 2, "plain", "a word with spaces"] as const),
      seen: field(t.json, { params: { of: t.input("Seen", { each: t.list(Status), last: Status(2) }) } })(
        ({ of }) => of,
      ),
      wrong: field(Status)(() => "ACTIVE" as never),
    },
  });

  it("receives and returns them, and clients see the names", async () => {
    expect(await data(built, "{ next all sold: next(status: SOLD) }")).toEqual({
      next: "SOLD",
      all: ["ACTIVE", "SOLD", "plain", "WORD"],
      sold: "SOLD",
    });
    expect(
      await data(built, "query ($each: [Status!]!, $one: Status!) { seen(of: { each: $each }) next(status: $one) }", {
        variables: { each: ["WORD", "ACTIVE"], one: "plain" },
      }),
    ).toEqual({ seen: { each: ["a word with spaces", 1], last: 2 }, next: "plain" });
  });

  it("prints names, descriptions and defaults", () => {
    const text = printSchema(built);

    expect(text).toContain('enum Status {\n  ACTIVE\n\n  """Not for sale."""\n  SOLD\n  WORD\n  plain\n}');
    expect(text).toContain("next(status: Status! = ACTIVE): Status!");
    expect(text).toContain("last: Status! = SOLD");
  });

  it("rejects the values themselves from clients, and names from resolvers", async () => {
    expect((await ask(built, "{ next(status: 1) }")).errors).toHaveLength(1);
    expect((await ask(built, "{ wrong }")).errors?.[0]?.message).toContain('cannot represent value: "ACTIVE"');
  });

  it("holds any value, compared by identity", async () => {
    const [red, blue] = [{ hex: "f00" }, { hex: "00f" }];
    const Colour = t.enum("Colour", { RED: { value: red }, BLUE: { value: blue }, BIG: { value: 10n } });
    const swap = field(Colour, { params: { colour: Colour } })(({ colour }) => (colour === red ? blue : 10n));

    expect(await data(schema({ query: { swap } }), "{ swap(colour: RED) big: swap(colour: BLUE) }")).toEqual({
      swap: "BLUE",
      big: "BIG",
    });
  });

  it("accepts a string enum of TypeScript", async () => {
    // As TypeScript compiles `enum Genre { Novel = "nov", Poetry = "poe" }`.
    const Genre = { Novel: "nov", Poetry: "poe" } as const;
    const genre = field(t.enum("Genre", Genre))(() => Genre.Poetry);

    expect(await data(schema({ query: { genre } }), "{ genre }")).toEqual({ genre: "Poetry" });
  });

  it("rejects two names with one value, and values that could not be told apart", () => {
    expect(() => t.enum("E", { A: 1, B: 1 })).toThrow("t.enum E: A and B have the same value");
    expect(() => t.enum("E", { A: { value: "B" }, B: {} })).toThrow("A and B have the same value");
    for (const value of [null, undefined, Number.NaN])
      expect(() => t.enum("E", { A: { value } })).toThrow("t.enum E.A.value must be a value other than null");
  });
});

it("is the type of a filter whose words are its values", async () => {
  interface Item {
    readonly id: number;
    readonly state: "on sale" | "gone";
  }
  const State = t.enum("State", { ON_SALE: "on sale", GONE: "gone" });
  const Item: ObjectType<Item> = object("Item", { id: t.int, state: State });
  const rows: readonly Item[] = [
    { id: 1, state: "on sale" },
    { id: 2, state: "gone" },
  ];
  const strategy = new CursorPagination({
    sortField: "id",
    filterable: { state: { type: ["on sale", "gone"], by: ["equal"] } },
  });
  const items = connection(Item, strategy)(() => new SyncListDataHandler(rows, { name: "items" }));
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { items } })).mount(app);

  const query = "{ items(filter: { state: { equal: GONE } }) { nodes { id state } } }";
  const answer = await testClient(app).post("/graphql", { body: { query } });

  expect((answer.json() as { data: unknown }).data).toEqual({ items: { nodes: [{ id: 2, state: "GONE" }] } });
});
