import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { GraphResult, TestResponse } from "portico/testing";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken, type Headers } from "./sign-in.ts";

// By the seed, book-1 and book-5 belong to seller1, book-2 and book-6 to seller2, and book-3 and book-4 to the shop.
let shop: Shop;
const signedIn: Record<string, Headers> = {};
/** The ids of the orders by the books in them. */
const orders: Record<"one" | "two" | "both" | "shop", string> = { one: "", two: "", both: "", shop: "" };
beforeAll(async () => {
  shop = await openShop({ books: 40, users: 3 });
  for (const name of ["reader1", "reader2", "seller1", "seller2", "staff"])
    signedIn[name] = await byToken(shop.client, name);
  orders.one = await place("reader1", "book-1");
  orders.two = await place("reader2", "book-2", "book-6");
  orders.both = await place("reader1", "book-1", "book-2", "book-3");
  orders.shop = await place("reader2", "book-3", "book-4");
});

const headersOf = (name: string): Headers => signedIn[name] ?? {};

async function place(buyer: string, ...books: readonly string[]): Promise<string> {
  const body = { books: books.map((book) => ({ book })) };
  const placed = await shop.client.post("/orders", { body, headers: headersOf(buyer) });
  return (placed.json() as { readonly id: string }).id;
}

const ask = <Data>(document: string, variables: object, as: string): Promise<GraphResult<Data>> =>
  shop.client.graphql<Data>(document, { ...variables }, { headers: headersOf(as) });

const get = (path: string, as: string): Promise<TestResponse> => shop.client.get(path, { headers: headersOf(as) });

interface Connection {
  readonly nodes: readonly {
    readonly id: string;
    readonly lines: readonly { readonly book: { readonly id: string } }[];
  }[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}
const ORDERS = `query ($first: Int, $after: String) {
  orders(first: $first, after: $after) {
    nodes { id totalCents lines { book { id } } } totalCount pageInfo { hasNextPage endCursor }
  }
}`;
async function connect(as: string, args: object = {}): Promise<Connection> {
  const { data, errors } = await ask<{ orders: Connection }>(ORDERS, args, as);
  expect(errors).toBeUndefined();
  return data?.orders as Connection;
}
const listed = async (as: string): Promise<readonly string[]> =>
  ((await get("/orders", as)).json() as { readonly items: readonly { readonly id: string }[] }).items.map(
    ({ id }) => id,
  );

type Name = keyof typeof orders;
describe.each<[who: string, sees: Partial<Record<Name, readonly string[]>>]>([
  ["reader1", { both: ["book-1", "book-2", "book-3"], one: ["book-1"] }],
  ["reader2", { shop: ["book-3", "book-4"], two: ["book-2", "book-6"] }],
  ["seller1", { both: ["book-1"], one: ["book-1"] }],
  ["seller2", { both: ["book-2"], two: ["book-2", "book-6"] }],
  [
    "staff",
    {
      shop: ["book-3", "book-4"],
      both: ["book-1", "book-2", "book-3"],
      two: ["book-2", "book-6"],
      one: ["book-1"],
    },
  ],
])("%s", (who, sees) => {
  const names = Object.keys(sees) as Name[];

  it("lists exactly the orders that they may see, on the route and in the connection, and counts them", async () => {
    const expected = names.map((name) => orders[name]);
    const connection = await connect(who);

    expect(await listed(who)).toEqual(expected);
    expect(connection.nodes.map(({ id }) => id)).toEqual(expected);
    expect(connection.totalCount).toBe(expected.length);
  });

  it("sees exactly the lines that they may see, and their total", async () => {
    const connection = await connect(who);
    for (const [at, name] of names.entries()) {
      const { lines, total_cents } = (await get(`/orders/${orders[name]}`, who)).json() as {
        readonly lines: readonly { readonly book_id: string; readonly price_cents: number }[];
        readonly total_cents: number;
      };
      const total = lines.reduce((sum, { price_cents }) => sum + price_cents, 0);

      expect(lines.map(({ book_id }) => book_id)).toEqual(sees[name]);
      expect(connection.nodes[at]?.lines.map(({ book }) => book.id)).toEqual(sees[name]);
      expect(connection.nodes[at]).toMatchObject({ totalCents: total });
      expect(total_cents).toBe(total);
    }
  });

  it("cannot tell a hidden order from one that does not exist", async () => {
    const ids = (Object.keys(orders) as Name[]).filter((name) => !names.includes(name)).map((name) => orders[name]);
    const unknown = await get("/orders/no-such-order", who);
    const { data: absent } = await ask('{ order(id: "no-such-order") { id } }', {}, who);

    expect([unknown.status, absent]).toEqual([404, { order: null }]);
    for (const id of ids) {
      const hidden = await get(`/orders/${id}`, who);
      const { data, errors } = await ask("query ($id: ID!) { order(id: $id) { id } }", { id }, who);
      expect([hidden.status, withoutId(hidden)]).toEqual([404, withoutId(unknown)]);
      expect([data, errors]).toEqual([{ order: null }, undefined]);
    }
  });

  it("pages through their own orders only, one at a time", async () => {
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { nodes, pageInfo } = await connect(who, { first: 1, after });
      seen.push(...nodes.map(({ id }) => id));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }

    expect(seen).toEqual(names.map((name) => orders[name]));
  });
});

/** The problem, without what names the request. */
function withoutId(answer: TestResponse): object {
  const { correlation_id: _id, instance: _path, ...problem } = answer.json() as Record<string, unknown>;
  return problem;
}

describe.each(["reader1", "seller1", "staff"])("the lists of %s", (who) => {
  it("send as many statements for all orders as for one", async () => {
    let sent = 0;
    const add = (): void => void sent++;
    subscribe("bookshop.statements", add);
    onTestFinished(() => void unsubscribe("bookshop.statements", add));
    const query =
      "query ($first: Int) { orders(first: $first) { nodes { buyer totalCents lines { book { title } } } } }";
    const statementsFor = async (size: number): Promise<readonly number[]> => {
      const start = sent;
      await ask(query, { first: size }, who);
      const inGraph = sent;
      await get(`/orders?page_size=${size}`, who);
      return [inGraph - start, sent - inGraph];
    };
    // The first request also reads the user and the catalogue.
    await statementsFor(1);

    expect(await statementsFor(50)).toEqual(await statementsFor(1));
  });
});

describe("a cursor", () => {
  it("of another user is rejected, on the route and in the connection", async () => {
    const { pageInfo } = await connect("seller1", { first: 1 });

    const onRoute = await get(`/orders?cursor=${encodeURIComponent(pageInfo.endCursor)}`, "seller2");
    const { errors } = await ask(ORDERS, { after: pageInfo.endCursor }, "seller2");

    expect(onRoute.json()).toMatchObject({ status: 400, code: "cursor_mismatch" });
    expect(errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });
});

const stateOf = async (id: string): Promise<unknown> =>
  ((await get(`/orders/${id}`, "staff")).json() as { readonly state: string }).state;

describe("shipOrder", () => {
  const SHIP = "mutation ($id: ID!) { shipOrder(id: $id) { state } }";
  const codeOf = async (id: string, as: string): Promise<unknown> =>
    (await ask(SHIP, { id }, as)).errors?.[0]?.extensions?.["code"];

  it("does not find an order for the books of others, and changes nothing", async () => {
    expect(await codeOf(orders.two, "seller1")).toBe("NOT_FOUND");
    expect(await codeOf("no-such-order", "seller1")).toBe("NOT_FOUND");
    expect(await stateOf(orders.two)).toBe("placed");
  });

  it("is forbidden for an order that has books of others too, and changes nothing", async () => {
    expect(await codeOf(orders.both, "seller1")).toBe("FORBIDDEN");
    expect(await stateOf(orders.both)).toBe("placed");
  });

  it("is forbidden for a buyer, and for a seller who is the buyer", async () => {
    const own = await place("seller1", "book-2");

    expect(await codeOf(orders.one, "reader1")).toBe("FORBIDDEN");
    expect(await codeOf(own, "seller1")).toBe("FORBIDDEN");
    expect([await stateOf(orders.one), await stateOf(own)]).toEqual(["placed", "placed"]);
  });

  it("ships an order for the seller's own books, once", async () => {
    const id = await place("reader1", "book-1", "book-5");

    expect((await ask(SHIP, { id }, "seller1")).data).toEqual({ shipOrder: { state: "shipped" } });
    expect(await codeOf(id, "seller1")).toBe("ORDER_CLOSED");
  });
});

describe("orderPlaced", () => {
  it("reaches the sellers of the ordered books, each with their own lines", async () => {
    const query = "subscription { orderPlaced { id totalCents lines { book { id } } } }";
    const streams = ["seller1", "seller2"].map((name) =>
      shop.client.subscribe(query, {}, { headers: headersOf(name) }),
    );
    await Promise.all(streams.map((stream) => stream.ready()));

    await place("reader2", "book-3");
    await place("reader2", "book-6");
    const both = await place("reader2", "book-5", "book-6");

    const [one, two] = streams.map((stream) => stream[Symbol.asyncIterator]());
    const first = await one?.next();
    const others = [await two?.next(), await two?.next()];
    await Promise.all([one?.return?.(), two?.return?.()]);
    expect(first?.value).toMatchObject({ data: { orderPlaced: { id: both, lines: [{ book: { id: "book-5" } }] } } });
    expect(others.map((event) => event?.value)).toMatchObject([
      { data: { orderPlaced: { lines: [{ book: { id: "book-6" } }] } } },
      { data: { orderPlaced: { id: both, lines: [{ book: { id: "book-6" } }] } } },
    ]);
  });
});

describe("the books of a seller", () => {
  it("are listed with their costs for the seller alone", async () => {
    const stock = async (as: string) =>
      (await get("/books/stock?limit=3", as)).json() as {
        readonly items: readonly { readonly id: string }[];
        readonly pagination: { readonly total_items: number };
      };
    const [one, two, all] = [await stock("seller1"), await stock("seller2"), await stock("staff")];

    expect([one, two, all].map(({ pagination }) => pagination.total_items)).toEqual([10, 10, 40]);
    expect(one.items.filter(({ id }) => two.items.some((other) => other.id === id))).toEqual([]);
    expect((await get("/books/stock", "reader1")).status).toBe(403);
  });

  it("show their cost to the seller, and null to others", async () => {
    const document =
      '{ a: book(by: { id: "book-1" }) { seller costCents } b: book(by: { id: "book-2" }) { costCents } }';

    const { data, errors } = await ask(document, {}, "seller1");

    expect(data).toEqual({ a: { seller: "seller1", costCents: 337 }, b: { costCents: null } });
    expect(errors).toMatchObject([{ path: ["b", "costCents"], extensions: { code: "FORBIDDEN" } }]);
  });

  it("are changed by the seller alone", async () => {
    const change = "mutation ($id: ID!) { changeBook(id: $id, change: { stock: 77 }) { stock } }";
    const before = (await get("/books/book-2", "reader1")).json();

    const own = await ask(change, { id: "book-1" }, "seller1");
    const foreign = await ask(change, { id: "book-2" }, "seller1");
    const ofShop = await ask(change, { id: "book-3" }, "seller1");

    expect(own.data).toEqual({ changeBook: { stock: 77 } });
    for (const { errors } of [foreign, ofShop]) expect(errors).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect((await get("/books/book-2", "reader1")).json()).toEqual(before);
  });

  it("belong to the seller who adds them", async () => {
    const add = `mutation ($isbn: Isbn!) {
      addBook(book: { isbn: $isbn, title: "Emma", genre: novel, authorId: "author-1", priceCents: 1, costCents: 1 }) { seller }
    }`;

    const bySeller = await ask(add, { isbn: "9780141439587" }, "seller2");
    const byStaff = await ask(add, { isbn: "9780141439686" }, "staff");

    expect(bySeller.data).toEqual({ addBook: { seller: "seller2" } });
    expect(byStaff.data).toEqual({ addBook: { seller: null } });
  });
});
