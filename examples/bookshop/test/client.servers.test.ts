import { type Client, createClient, memoryTokens } from "portico-client";
import { beforeAll, describe, expect, it } from "vitest";
import { listeners, openShop, password, type Shop } from "./open-shop.ts";

let shop: Shop;
let reader: Client;
let staff: Client;
beforeAll(async () => {
  shop = await openShop({ books: 60, users: 3 });
  [reader, staff] = await Promise.all([signedIn("reader1"), signedIn("staff")]);
});

async function signedIn(identifier: string): Promise<Client> {
  const client = createClient({ url: shop.client.url, tokens: memoryTokens() });
  await client.signIn({ identifier, password });
  return client;
}

describe("a program that uses portico-client", () => {
  it("walks through all books, over REST and over GraphQL", async () => {
    const document = `query Books($first: Int, $after: String) {
      books(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { id } } }
    }`;

    const books = await Array.fromAsync(reader.walk("/books", { query: { page_size: 25 } }));
    const nodes = await Array.fromAsync(
      reader.walk(document, { variables: { first: 25 }, connection: (data) => data.books }),
    );

    expect(new Set(books.map(({ id }) => id)).size).toBe(60);
    expect(nodes).toHaveLength(60);
  });

  it("reads the code of an error", async () => {
    const order = reader.post("/orders", { body: { books: [{ book: "book-4", copies: 99 }] } });

    await expect(order).rejects.toMatchObject({ code: "OUT_OF_STOCK", status: 409 });
  });

  it("places an order once, although the response of the first request is lost", async () => {
    const sent: string[] = [];
    const losing = createClient({
      url: shop.client.url,
      tokens: memoryTokens(),
      idempotent: ["POST /orders", "mutation placeOrder"],
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        const inBody = /"idempotencyKey":"(\w+)"/.exec(String(init.body))?.[1];
        const key = new Headers(init.headers).get("idempotency-key") ?? inBody;
        if (key === undefined || sent.includes(key)) return response;
        sent.push(key);
        await response.arrayBuffer();
        throw new TypeError("the connection was lost");
      },
    });
    await losing.signIn({ identifier: "reader2", password });
    const place = 'mutation { placeOrder(books: [{ book: "book-2" }]) { id } }';

    const order = await losing.post("/orders", { body: { books: [{ book: "book-3" }] } });
    const { placeOrder } = await losing.graphql(place);

    const { myOrders } = await losing.graphql("{ myOrders(first: 5) { nodes { id } } }");
    expect(myOrders.nodes.map(({ id }: { id: string }) => id)).toEqual([placeOrder.id, order.id]);
    expect(sent).toHaveLength(2);
  });

  it("uploads a cover, and sees the orders of others", async () => {
    const file = new Blob(["not really a picture"], { type: "image/png" });
    const upload = "mutation Cover($book: ID!, $file: Upload!) { setCover(book: $book, file: $file) { cover } }";
    const orders = staff.subscribe<{ orderPlaced: { buyer: string } }>("subscription { orderPlaced { buyer } }");

    const covered = await staff.graphql(upload, { variables: { book: "book-7", file } });
    const placed = orders.next();
    await expect.poll(() => listeners("orders.placed")).toBe(1);
    await reader.post("/orders", { body: { books: [{ book: "book-1" }] } });

    expect(covered.setCover.cover).toMatch(/book-7/);
    expect((await placed).value).toMatchObject({ data: { orderPlaced: { buyer: "reader1" } }, gap: false });
    await orders.return();
  });
});
