import { may, user } from "./account.js";
import { graphql, subscribe } from "./api.js";
import { byId, copyOf, on, price } from "./dom.js";

const ORDER = "id at state buyer totalCents lines { copies book { title } }";
const MINE = `query MyOrders($after: String) {
  myOrders(first: 5, after: $after) { nodes { ${ORDER} } pageInfo { hasNextPage endCursor } }
}`;
const PLACED = `subscription Placed { orderPlaced { ${ORDER} } }`;

let cursor = null;
on(byId("more"), "click", () => showOrders(cursor));

/** Shows the newest orders of the user. With a cursor, adds the older ones. */
export async function showOrders(after = null) {
  byId("orders").hidden = user === null;
  if (user === null) return;
  const { nodes, pageInfo } = (await graphql(MINE, { after })).myOrders;
  if (after === null) byId("mine").replaceChildren();
  byId("mine").append(...nodes.map((order) => entryOf(order, order.state)));
  byId("none").hidden = byId("mine").children.length > 0;
  byId("more").hidden = !pageInfo.hasNextPage;
  cursor = pageInfo.endCursor;
}

let watch = new AbortController();

/** Shows new orders as long as a user is signed in who ships them. */
export async function watchOrders() {
  watch.abort();
  watch = new AbortController();
  const { signal } = watch;
  byId("placed").replaceChildren();
  byId("news").hidden = !may("ship:orders") && !may("sell:books");
  if (byId("news").hidden) return;
  while (!signal.aborted) {
    try {
      for await (const { orderPlaced } of subscribe(PLACED, signal))
        byId("placed").prepend(entryOf(orderPlaced, `for ${orderPlaced.buyer}`));
    } catch {
      // The connection was lost, or the signal has ended it. Only the first is followed by another attempt.
    }
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  }
}

function entryOf({ at, totalCents, lines }, remark) {
  const [entry, part] = copyOf("order");
  const time = new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  part("strong").textContent = lines.map(({ copies, book }) => `${copies} × ${book.title}`).join(", ");
  part("span").textContent = price(totalCents);
  part("small").textContent = `${time}, ${remark}`;
  return entry;
}
