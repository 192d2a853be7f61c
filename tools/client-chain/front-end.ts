import { createClient, memoryTokens, PorticoClientError } from "portico-client";
import type { paths } from "./generated/paths.d.ts";
import { graphql } from "./graphql.ts";

// A front end of the bookshop, with the types that `portico client` wrote. It leaves its results in the page.
const Newest = graphql(`
  query Newest($first: Int, $after: String) {
    books(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { id title } } }
  }
`);
const Me = graphql("query Me { me { username roles } }");
const Orders = graphql("subscription Orders { orderPlaced { id buyer totalCents } }");

const { origin } = location;
const staff = createClient<paths>({ url: origin, tokens: memoryTokens(), transport: "websocket" });
const reader = createClient<paths>({ url: origin });
const password = "correct horse battery";
await staff.signIn({ identifier: "staff", password });
await reader.signIn({ identifier: "reader1", password });

const first = await reader.get("/books", { query: { page_size: 5, genre: "novel" } });
const prices: readonly number[] = first.items.map(({ price_cents }) => price_cents);
const walked: string[] = [];
for await (const { id } of reader.walk("/books", { query: { page_size: 25 } })) walked.push(id);
const nodes: string[] = [];
for await (const { id } of reader.walk(Newest, { variables: { first: 25 }, connection: ({ books }) => books }))
  nodes.push(id);
const { me } = await reader.graphql(Me);

const events = staff.subscribe(Orders);
const placed = events.next();
// The subscription may not be open yet, so orders are placed until one is seen.
let orders = 0;
const ordering = setInterval(() => {
  orders += 1;
  void reader.post("/orders", { body: { books: [{ book: "book-1" }] } }).catch(() => {});
}, 200);
const { value: event } = await placed;
clearInterval(ordering);
await events.return();

let code = "";
try {
  await reader.get("/orders/{id}", { path: { id: "no-such-order" } });
} catch (error) {
  if (error instanceof PorticoClientError) code = error.code;
}

document.body.dataset["result"] = JSON.stringify({
  prices: prices.length,
  walked: new Set(walked).size,
  nodes: new Set(nodes).size,
  me: me?.username,
  buyer: event?.data?.orderPlaced?.buyer,
  orders: orders > 0,
  code,
});
