import { type Client, createClient } from "graphql-ws";
import type { GraphResult } from "portico/testing";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { listeners, openShop, type Shop } from "./open-shop.ts";
import { bySession, byToken, type Headers } from "./sign-in.ts";

const ORDERS = "subscription Orders { orderPlaced { buyer totalCents lines { copies book { id stock } } } }";
const STOCK = "subscription Stock($book: ID!) { stockChanged(book: $book) }";

let shop: Shop;
let reader: Headers;
let staff: Headers;
beforeAll(async () => {
  shop = await openShop({ books: 40, users: 3 });
  reader = await byToken(shop.client, "reader1");
  staff = await byToken(shop.client, "staff");
});

const order = (book: string, copies = 1): ReturnType<Shop["client"]["post"]> =>
  shop.client.post("/orders", { body: { books: [{ book, copies }] }, headers: reader });

/** Returns the first events over HTTP after running `act`, which causes them. */
async function eventsOf(document: string, variables: object, headers: Headers, act: () => Promise<unknown>, count = 1) {
  const events: GraphResult[] = [];
  const stream = shop.client.subscribe(document, { ...variables }, { headers });
  await stream.ready();
  await act();
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

function socketClient(connectionParams: Headers = {}): Client {
  const client = createClient({
    url: `ws://127.0.0.1:${shop.client.port}/graphql`,
    connectionParams,
    retryAttempts: 0,
  });
  onTestFinished(() => void client.dispose());
  return client;
}

describe("new orders", () => {
  it("reach staff over HTTP, with all fields of an order", async () => {
    const [event] = await eventsOf(ORDERS, {}, staff, () => order("book-1", 2));

    expect(event?.errors).toBeUndefined();
    expect(event?.data).toEqual({
      orderPlaced: { buyer: "reader1", totalCents: 2 * 537, lines: [{ copies: 2, book: { id: "book-1", stock: 9 } }] },
    });
  });

  it("reach staff over a socket that sent a token with connection_init", async () => {
    await expect.poll(() => listeners("orders.placed"), { timeout: 60_000 }).toBe(0);
    const events = socketClient(staff).iterate<{ orderPlaced: { buyer: string } }>({ query: ORDERS });
    const first = events.next();
    await expect.poll(() => listeners("orders.placed"), { timeout: 60_000 }).toBe(1);

    await order("book-2");

    expect((await first).value).toMatchObject({ data: { orderPlaced: { buyer: "reader1" } } });
    await events.return?.();
  });

  it("are rejected for readers", async () => {
    const events = await Array.fromAsync(shop.client.subscribe(ORDERS, {}, { headers: reader }));

    expect(events).toMatchObject([{ errors: [{ extensions: { code: "FORBIDDEN" } }] }]);
  });

  it("are not published if the order fails", async () => {
    const events = await eventsOf(STOCK, { book: "book-3" }, {}, async () => {
      const refused = await shop.client.post("/orders", {
        body: { books: [{ book: "book-3" }, { book: "book-4", copies: 99 }] },
        headers: reader,
      });
      expect(refused.json()).toMatchObject({ status: 409, code: "out_of_stock" });
      await order("book-3", 3);
    });

    // Thirteen were in stock. The copy that the rejected order had reserved was never published.
    expect(events).toMatchObject([{ data: { stockChanged: 10 } }]);
  });
});

describe("the stock of a book", () => {
  it("is published to everyone, for that book only, when it is ordered and when it is restocked", async () => {
    const events = await eventsOf(
      STOCK,
      { book: "book-5" },
      {},
      async () => {
        await order("book-6");
        await order("book-5");
        await shop.client.graphql(
          'mutation { changeBook(id: "book-5", change: { stock: 50 }) { id } }',
          {},
          { headers: staff },
        );
      },
      2,
    );

    expect(events.map(({ data }) => data)).toEqual([{ stockChanged: 14 }, { stockChanged: 50 }]);
  });
});

describe("a socket", () => {
  it("is closed when the session that opened it ends", async () => {
    const session = await bySession(shop.client, "staff");
    const socket = await shop.client.socket("/graphql", {
      headers: session,
      protocols: ["graphql-transport-ws"],
    });
    socket.send(JSON.stringify({ type: "connection_init" }));
    expect(JSON.parse(await socket.next())).toMatchObject({ type: "connection_ack" });

    await shop.client.post("/account/logout", { headers: session, body: {} });

    expect(await socket.closed).toMatchObject({ code: 4403 });
  });
});
