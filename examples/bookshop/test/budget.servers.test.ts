import { beforeAll, expect, it } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken } from "./sign-in.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ books: 5, users: 2 });
});

/** Returns the units that are left of a budget, from the headers of a response. */
function left(headers: Readonly<Record<string, unknown>>): number {
  return Number(/;r=(\d+);/.exec(String(headers["ratelimit"]))?.[1]);
}

it("charges routes and GraphQL to one budget of the user, by what they return", async () => {
  const headers = await byToken(shop.client, "reader1");

  const list = await shop.client.get("/books", { headers });
  const query = "{ books(first: 50) { nodes { title } } }";
  const graph = await shop.client.post("/graphql", { body: { query }, headers });

  expect(list.headers["ratelimit-policy"]).toBe('"user";q=100000;w=60');
  expect(left(list.headers)).toBe(99_999);
  const { extensions } = graph.json() as { readonly extensions: { readonly cost: { readonly cost: number } } };
  const used = left(list.headers) - left(graph.headers);
  // The shop has five books: each costs its object and its title.
  expect(extensions.cost.cost).toBeGreaterThan(50);
  expect(used).toBeGreaterThan(5);
  expect(used).toBeLessThan(20);
});

it("charges anonymous visitors by their address", async () => {
  const { headers } = await shop.client.get("/books");

  expect(headers["ratelimit-policy"]).toBe('"address";q=50000;w=60');
});
