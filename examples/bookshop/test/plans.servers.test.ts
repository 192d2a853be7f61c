import { expectFlat, expectPlans, type StatementWatch, watchStatements } from "portico/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken, type Headers } from "./sign-in.ts";

let shop: Shop;
let watch: StatementWatch;
const signedIn: Record<string, Headers> = {};
beforeAll(async () => {
  shop = await openShop({ books: 120 });
  for (const name of ["seller1", "staff", "reader1"]) signedIn[name] = await byToken(shop.client, name);
  await shop.client.post("/orders", {
    headers: as("reader1"),
    body: { books: [{ book: "book-1" }, { book: "book-2" }] },
  });
  watch = watchStatements((await import("../src/database.ts")).database);
});
afterAll(() => watch.stop());
const as = (name: string): Headers => signedIn[name] ?? {};

describe("the lists of the shop", () => {
  it("need as many statements for a large page as for a small one", async () => {
    const { client } = shop;
    const books = `query ($first: Int!) {
      books(first: $first) { nodes { title stars cover author { name books { nodes { title } } } reviews { stars reader } } }
    }`;
    await expectFlat(watch, (first) => client.graphql(books, { first }), { sizes: [1, 20, 100] });
    await expectFlat(watch, (page_size) => client.get("/books", { query: { page_size } }));
    await expectFlat(watch, (page_size) => client.get("/books/newest", { query: { page_size } }));
    await expectFlat(watch, (limit) => client.get("/authors", { query: { limit } }));
  });

  it("have an index for every order, in both directions, at any depth", async () => {
    const { client } = shop;
    for (const path of ["/books", "/books/newest", "/books?genre=poetry", "/books/newest?genre=poetry", "/authors"])
      await client.get(path);
    for (const name of ["seller1", "staff"]) await client.get("/books/stock", { headers: as(name) });
    await client.get("/orders", { headers: as("reader1") });
    const lists =
      "{ books { nodes { author { books { nodes { id } } } } } orders { nodes { id } } myOrders { nodes { id } } }";
    await client.graphql(lists, {}, { headers: as("reader1") });

    await expectPlans(watch);
  });
});
