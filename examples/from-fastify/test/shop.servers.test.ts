import { PorticoApp } from "portico";
import { SimpleUser } from "portico/auth";
import { drizzleHandler } from "portico/drizzle";
import { expectAgreement } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { orderPages } from "../after/order-list.ts";
import { visibleOrders } from "../after/order-rules.ts";
import { orders } from "../shared/tables.ts";
import { openShops, type Shop, type Shops } from "./open-shop.ts";

let shops: Shops;
/** The tokens are those that the version before issued. */
const tokens: Record<string, string> = {};
beforeAll(async () => {
  shops = await openShops();
  for (const name of ["ann", "bob", "staff"]) tokens[name] = await shops.before.tokenOf(name);
});
afterAll(() => shops?.[Symbol.asyncDispose]());

const both = async <T>(ask: (shop: Shop) => Promise<T>): Promise<readonly [before: T, after: T]> => [
  await ask(shops.before),
  await ask(shops.after),
];
const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

/** An error of Portico has a code, too. */
const codeIn = (body: object): object => ("code" in body && typeof body.code === "string" ? { code: body.code } : {});
const allItems = async (shop: Shop, query: string): Promise<readonly unknown[]> => {
  const items: unknown[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const { body, status } = await shop.get(`/orders?limit=7${query}${next && `&after=${next}`}`, tokens["ann"]);
    expect(status).toBe(200);
    items.push(...body.items);
    next = body.next;
  }
  return items;
};

describe("the routes of both versions", () => {
  it.each([
    ["/health", undefined, 200],
    ["/me", "ann", 200],
    ["/me", undefined, 401],
    ["/orders/o1", "ann", 200],
    ["/orders/o1", "staff", 200],
    ["/orders/o1", undefined, 401],
    ["/orders/o3", "ann", 404],
    ["/orders/none", "ann", 404],
    ["/missing", undefined, 404],
  ])("GET %s as %s responds with %i and the same body", async (path, user, status) => {
    const [before, after] = await both((shop) => shop.get(path, user && tokens[user]));

    expect([before.status, after.status]).toEqual([status, status]);
    expect(after.body).toEqual({ ...before.body, ...codeIn(after.body) });
  });

  it("POST /login issues a token, and rejects a wrong password", async () => {
    const [before, after] = await both((shop) => shop.post("/login", { email: "bob@shop.example", password: "guess" }));
    expect([before.status, after.status]).toEqual([401, 401]);

    const token = await shops.after.tokenOf("bob");
    const replies = await both((shop) => shop.get("/me", token));
    for (const { body } of replies) expect(body).toEqual({ id: "bob", name: "Bob" });
  });

  it("GET /orders walks through the same rows", async () => {
    for (const query of ["", "&status=open"]) {
      const [before, after] = await both((shop) => allItems(shop, query));
      expect(after).toEqual(before);
      expect(after.length).toBe(query === "" ? 40 : 30);
    }
    for (const path of ["/orders?limit=0", "/orders?after=x"]) {
      const replies = await both((shop) => shop.get(path, tokens["ann"]));
      expect(replies.map(({ status }) => status)).toEqual([400, 400]);
    }
    expect((await both((shop) => shop.get("/orders"))).map(({ status }) => status)).toEqual([401, 401]);
  });
});

describe("the GraphQL documents of both versions", () => {
  const documents = [
    "{ me { id name } }",
    '{ order(id: "o1") { id status totalCents createdAt customer { name } lines { product quantity } } }',
    '{ order(id: "o3") { id } }',
    "{ orders(first: 5) { nodes { id customer { id } } pageInfo { hasNextPage } totalCount } }",
    '{ orders(first: 50, status: "shipped") { nodes { id status } pageInfo { hasNextPage } totalCount } }',
    "{ audit }",
    'mutation { shipOrder(id: "o2") { id status } }',
  ];

  it.each(documents)("%s", async (document) => {
    for (const token of [undefined, tokens["ann"], tokens["staff"]]) {
      const [before, after] = await both((shop) => shop.graphql(document, token));
      expect(after.data).toEqual(before.data);
      expect(after.errors.length).toBe(before.errors.length);
    }
  });

  it("follow their cursors to the same rows", async () => {
    const query =
      "query ($after: String) { orders(first: 9, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }";
    const walk = async (shop: Shop): Promise<readonly string[]> => {
      const seen: string[] = [];
      for (let after: string | null = null, isMore = true; isMore; ) {
        const { data } = await shop.graphql(query, tokens["bob"], { after });
        seen.push(...ids(data.orders.nodes));
        ({ endCursor: after, hasNextPage: isMore } = data.orders.pageInfo);
      }
      return seen;
    };
    const [before, after] = await both(walk);
    expect(after).toEqual(before);
    expect(after).toHaveLength(20);
  });
});

describe("the rule about orders, after", () => {
  it("holds in routes, fields, lists, totals and batches", async () => {
    const { after } = shops;
    const document = '{ order(id: "o1") { id } orders(first: 100) { nodes { id } totalCount } }';
    const bobs = Array.from({ length: 20 }, (_, index) => `o${60 - 3 * index}`);

    expect((await after.get("/orders/o1", tokens["bob"])).status).toBe(404);
    const list = await after.get("/orders?limit=100", tokens["bob"]);
    expect(ids(list.body.items).toSorted()).toEqual(bobs.toSorted());
    const { data } = await after.graphql(document, tokens["bob"]);
    expect(data.order).toBeNull();
    expect(ids(data.orders.nodes)).toEqual(ids(list.body.items));
    expect(data.orders.totalCount).toBe(20);

    const batch = await after.post("/graphql", [{ query: document }, { query: "{ audit }" }], tokens["bob"]);
    expect(batch.body[0].data).toEqual(data);
    expect(batch.body[1].data).toEqual({ audit: null });
    const all = await after.graphql("{ orders(first: 1) { totalCount } }", tokens["staff"]);
    expect(all.data.orders.totalCount).toBe(60);
  });

  it("applies to lists that clients sort and filter, and a cursor works in the route and in GraphQL", async () => {
    const { after } = shops;
    const document = `query ($after: String) {
      orders(first: 3, after: $after, sort: [TOTAL_CENTS_ASC], filter: { totalCents: { lt: 500 } }) {
        nodes { id totalCents } pageInfo { endCursor } totalCount
      }
    }`;
    const path = "/orders?limit=3&sort=totalCents&totalCents.lt=500";

    const { data } = await after.graphql(document, tokens["bob"]);
    const { body } = await after.get(path, tokens["bob"]);
    expect(ids(data.orders.nodes)).toEqual(ids(body.items));
    const totals = data.orders.nodes.map(({ totalCents }: { totalCents: number }) => totalCents);
    expect(totals).toEqual(totals.toSorted((a: number, b: number) => a - b));
    const variables = { after: body.next };
    const second = await after.graphql(document, tokens["bob"], variables);
    const { endCursor } = data.orders.pageInfo;
    expect(ids((await after.get(`${path}&after=${endCursor}`, tokens["bob"])).body.items)).toEqual(
      ids(second.data.orders.nodes),
    );
    expect(second.data.orders.nodes).toHaveLength(3);
  });

  it("has two halves that agree on the rows", async () => {
    const users = [new SimpleUser("ann"), new SimpleUser("bob"), new SimpleUser("staff", ["read:orders"])];
    const app = new PorticoApp({ logger: false });
    app.get(
      "/orders",
      { paginated: { strategy: orderPages, item: z.object({ id: z.coerce.string() }), rule: visibleOrders } },
      ({ response }) => response.apaginate(drizzleHandler(shops.db.select().from(orders)), { strategy: orderPages }),
    );

    await expectAgreement(app, { users, lists: (user) => user.get("/orders") });
  });
});

it("a nested query sends 22 statements before, and 4 after", async () => {
  const document = "{ orders(first: 10) { nodes { customer { name } lines { product } } } }";
  const count = async (shop: Shop): Promise<number> => {
    // The first page also reads the columns from the catalogue.
    await shop.graphql(document, tokens["ann"]);
    shop.statements.length = 0;
    await shop.graphql(document, tokens["ann"]);
    return shop.statements.length;
  };

  expect(await both(count)).toEqual([22, 4]);
});
