import { setTimeout as sleep } from "node:timers/promises";

const PASSWORD = "correct horse battery";
const CLIENTS = 6;
const PAUSE_MS = 30;
/** Some of them do not exist. */
const BOOKS = 220;

/** The operations of the clients, and how often one of them is sent among twenty. */
const OPERATIONS: readonly (readonly [times: number, query: string])[] = [
  [9, "query BookList { books(first: 10) { nodes { title author { name } stars } } }"],
  [5, "query BookPage($id: ID!) { book(by: { id: $id }) { title author { name } } }"],
  [3, 'query Search { search(text: "sea") { __typename } }'],
  [2, "query WhoAmI { me { username } }"],
  [1, "mutation PlaceOrder($id: ID!) { placeOrder(books: [{ book: $id }]) { id } }"],
];

/** Returns the headers of a signed-in user of the shop. */
export async function signedIn(url: string, identifier: string): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${url}/account/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identifier, password: PASSWORD }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return { authorization: `Bearer ${token}` };
}

/** Customers who read lists and pages and place orders, until the signal aborts. */
export async function shopTraffic(url: string, signal: AbortSignal): Promise<void> {
  const headers = { ...(await signedIn(url, "reader1")), "content-type": "application/json" };
  const round = OPERATIONS.flatMap(([times, query]) => Array.from({ length: times }, () => query));
  const customer = async (first: number): Promise<void> => {
    for (let n = first; !signal.aborted; n += 7) {
      const variables = { id: `book-${1 + (n % BOOKS)}` };
      const body = JSON.stringify({ query: round[n % round.length], variables });
      const response = await fetch(`${url}/graphql`, { method: "POST", headers, body });
      await response.arrayBuffer();
      await (await fetch(`${url}/books/newest?page_size=5`)).arrayBuffer();
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => customer(n)));
}
