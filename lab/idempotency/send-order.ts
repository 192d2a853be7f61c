import { setTimeout as sleep } from "node:timers/promises";

/** One order, which many clients try to place at once. */
export interface OrderAttempt {
  readonly key: string;
  readonly user: string;
  readonly isMutation: boolean;
  /** Where the process that does the work dies, if this client reaches it first. */
  readonly crash: "work" | "commit" | null;
}

/** What the clients of an order saw. */
export interface Seen {
  /** The responses other than 409 and 503, with how often they came. */
  readonly responses: Map<string, number>;
  readonly retries: { conflicts: number; unavailable: number; lost: number };
}

const MUTATION = "mutation Order($book: String!) { order(book: $book) { id book margin } }";
const PAUSE_MS = 100;
const MAX_TRIES = 3_000;

/** Sends an order, and again until it has a response other than 409 and 503. */
export async function sendOrder(order: OrderAttempt, portOf: () => number, seen: Seen): Promise<void> {
  let { crash } = order;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const text = await responseText(order, crash, portOf(), seen);
    // A client that dies with its server does so once.
    crash = null;
    if (text !== null) {
      seen.responses.set(text, (seen.responses.get(text) ?? 0) + 1);
      return;
    }
    await sleep(PAUSE_MS);
  }
  throw new Error(`the order ${order.key} had no response after ${MAX_TRIES} tries`);
}

async function responseText(
  { key, user, isMutation }: OrderAttempt,
  crash: string | null,
  port: number,
  { retries }: Seen,
): Promise<string | null> {
  const body = isMutation
    ? { query: MUTATION, variables: { book: key }, extensions: { idempotencyKey: key } }
    : { book: key };
  const headers = {
    "content-type": "application/json",
    "x-user": user,
    ...(isMutation ? {} : { "idempotency-key": key }),
    ...(crash === null ? {} : { "x-crash": crash }),
  };
  try {
    const url = `http://127.0.0.1:${port}/${isMutation ? "graphql" : "orders"}`;
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status === 409) retries.conflicts++;
    else if (response.status === 503 || isUnavailable(text)) retries.unavailable++;
    else return `${response.status} ${withoutChance(text)}`;
  } catch {
    retries.lost++;
  }
  return null;
}

/** A mutation has the status 200 when its field failed because the database was busy. */
function isUnavailable(text: string): boolean {
  return /"code":"(?:REQUEST_IN_PROGRESS|SERVICE_UNAVAILABLE)"/.test(text);
}

/** The cost and the id of a line in the log belong to a request, not to the order. */
function withoutChance(text: string): string {
  const { extensions: _cost, ...body } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(body, (key, value: unknown) => (/^correlation_?id$/i.test(key) ? undefined : value));
}
