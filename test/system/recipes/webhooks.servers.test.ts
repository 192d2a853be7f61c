import { createHmac } from "node:crypto";
import type { Kysely } from "kysely";
import type { PorticoApp } from "portico";
import { type Database, type Migration, migrate } from "portico/sql";
import { type LiveClient, liveClient } from "portico/testing";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";

const { faults, load } = await pageProgram("docs/recipes/webhooks.md");
const key = Buffer.from("the key of the payment service");
const oldKey = Buffer.from("the key that it had before");

const place = await newPlace("PostgreSQL");
vi.stubEnv("DATABASE_URL", place.url);
vi.stubEnv("WEBHOOK_SECRETS", [key, oldKey].map((secret) => `whsec_${secret.toString("base64")}`).join(" "));
const { app, database, migrations } = await load<{
  readonly app: PorticoApp;
  readonly database: Database<any>;
  readonly migrations: readonly Migration[];
}>("app.ts");
const payments = async () => (database as Kysely<any>).selectFrom("payments").selectAll().orderBy("cents").execute();
let client: LiveClient;

beforeAll(async () => {
  await migrate(database, "up", { users: false, migrations });
  client = await liveClient(app);
});
afterAll(async () => {
  await client.close();
  await place.remove();
  vi.unstubAllEnvs();
});

const now = (): number => Math.floor(Date.now() / 1000);
const payment = (cents: number): string => `{ "type": "payment.succeeded",  "order": "o1", "cents": ${cents} }`;
const macOf = (by: Buffer, text: string): string => `v1,${createHmac("sha256", by).update(text).digest("base64")}`;

/** Sends a webhook that is right but for the given parts, and returns the status. */
async function send(id: string, body: string, parts: { time?: unknown; signature?: string; by?: Buffer } = {}) {
  const { time = now(), by = key, signature = macOf(by, `${id}.${String(time)}.${body}`) } = parts;
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(time),
    "webhook-signature": signature,
  };
  return (await client.post("/webhooks/payments", { body, headers })).status;
}

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("processes a signed event once, however often it arrives", async () => {
  const body = payment(1);

  const statuses = await Promise.all([send("e1", body), send("e1", body), send("e1", body)]);

  expect([...statuses, await send("e1", body)]).toEqual([204, 204, 204, 204]);
  expect(await payments()).toEqual([{ order_id: "o1", cents: 1 }]);
});

it("rejects events that were changed, are too old or too early, or have no valid signature", async () => {
  const body = payment(2);
  const time = now();
  const signature = macOf(key, `e2.${time}.${body}`);

  expect([
    await send("e2", `${body} `, { time, signature }),
    await send("e3", body, { time, signature }),
    await send("e2", body, { time: time + 1, signature }),
    await send("e2", body, { time: now() - 301 }),
    await send("e2", body, { time: now() + 302 }),
    await send("e2", body, { time: "soon" }),
    await send("e2", body, { by: Buffer.from("the key of an attacker") }),
    await send("e2", body, { signature: "" }),
    await send("e2", body, { signature: "v1," }),
    await send("e2", body, { time, signature: signature.slice(0, -1) }),
    await send("", body),
    (await client.post("/webhooks/payments", { body })).status,
  ]).toEqual(Array.from({ length: 12 }, () => 401));
  expect(await payments()).toEqual([{ order_id: "o1", cents: 1 }]);
});

it("accepts the old key, and one valid signature of several", async () => {
  const body = payment(3);
  const time = now();
  const signature = `v1a,other ${macOf(Buffer.from("a third key"), "x")} ${macOf(key, `e5.${time}.${body}`)}`;

  expect([await send("e4", body, { by: oldKey }), await send("e5", body, { time, signature })]).toEqual([204, 204]);
  expect(await payments()).toHaveLength(3);
});

it("forgets the id of an event whose work failed", async () => {
  const broken = payment(4).replace("4", "9007199254740991");

  expect(await send("e6", broken)).toBe(500);
  expect(await send("e6", payment(4))).toBe(204);
  expect(await payments()).toContainEqual({ order_id: "o1", cents: 4 });
});

it("accepts other kinds of events without work, and the events that it sends itself", async () => {
  const { sendWebhook } = await load<{
    readonly sendWebhook: (url: string, key: Buffer, event: object, id?: string) => Promise<void>;
  }>("send-webhook.ts");
  const url = `${client.url}/webhooks/payments`;

  expect(await send("e7", '{ "type": "customer.created" }')).toBe(204);
  await sendWebhook(url, key, { type: "payment.succeeded", order: "o1", cents: 5 });
  await expect(sendWebhook(url, Buffer.from("wrong"), {})).rejects.toThrow("the receiver returned 401");

  expect(await payments()).toContainEqual({ order_id: "o1", cents: 5 });
});
