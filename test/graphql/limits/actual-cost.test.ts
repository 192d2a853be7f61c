import { PorticoApp } from "portico";
import { field, Graph, type InterfaceType, type ObjectType, object, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { quotaOf } from "../../kernel/limits/budget-app.ts";

interface Item {
  readonly kind: "Book" | "Film";
  readonly title: string;
}

const Named: InterfaceType<Item> = t.interface("Named", { title: t.string }, { resolveType: ({ kind }) => kind });
const Book: ObjectType<Item> = object(
  "Book",
  { title: t.string, pages: field(t.int, { cost: 2 })(() => 1), self: field(() => Book)(({ parent }) => parent) },
  { implements: [Named] },
);
const Film: ObjectType<Item> = object(
  "Film",
  { title: t.string, minutes: field(t.int, { cost: 7 })(() => 1) },
  { implements: [Named] },
);

const book: Item = { kind: "Book", title: "Emma" };
const film: Item = { kind: "Film", title: "Clueless" };

/** The units that an operation has cost. Its estimate is far higher, because its list may have 100 items. */
async function chargeOf(query: string): Promise<number> {
  const app = new PorticoApp({ logger: false, budget: { addressPerMinute: 100_000 } });
  onTestFinished(() => app.close());
  const items = field(t.list(Named), { listSize: 100 })(() => [book, film]);
  new Graph(schema({ query: { items, book: field(Book)(() => book) }, types: [Book, Film] })).mount(app);
  const { headers, status } = await testClient(app).post("/graphql", { body: { query } });
  expect(status).toBe(200);
  return 100_000 - quotaOf(headers).remaining;
}

it.each([
  ["counts the field and those of each item", "{ items { title } }", 3],
  ["counts only the fragments that fit the item", "{ items { ... on Book { pages } ... on Film { minutes } } }", 10],
  ["counts the fields of an inline fragment without a type", "{ items { ... { title } } }", 3],
  ["counts a fragment that is spread twice once", "{ items { ...F ...F } } fragment F on Book { pages }", 3],
  [
    "counts fragments inside of fragments",
    "{ items { ...F } } fragment F on Named { ...G title } fragment G on Film { minutes }",
    10,
  ],
  ["counts the dearest field of a key", "{ items { ... on Film { x: minutes } ... on Book { x: pages } } }", 15],
  ["counts it in any order", "{ items { ... on Book { x: pages } ... on Film { x: minutes } } }", 15],
  ["merges the selections of a key", "{ book { self { title } self { pages } } }", 5],
  ["counts a key once", "{ book { title title a: title } }", 3],
  ["leaves out what is skipped", "{ items { title @skip(if: true) ... on Book @include(if: false) { pages } } }", 1],
])("the actual cost %s", async (_what, query, cost) => {
  expect(await chargeOf(query)).toBe(cost);
});
