import { setTimeout as sleep } from "node:timers/promises";
import { Client, requestText, type Traffic } from "../../bench/overload/traffic.ts";
import type { Cell, Seen } from "../cell.ts";
import type { Crowd } from "../scenes/crowd.ts";
import { withClients, withDistantClients } from "../scenes/with-clients.ts";

const TIMES = 8;
const TURN_MS = 300;
const CLIENTS = 60;
/** The requests of each client that reads no response. */
const UNREAD = 900;
const EVENTS = 2_000;
const AT_ONCE = 20;
const SOCKETS = 5_000;
const HEAVY = 20;
/** More than the limits of headers and requests together. */
const TIMEOUT_MS = 15_000;
/** Clients that wait for each response, as many as must not be rejected. */
const CLOSED = 64;
const PEAK = 32;
/** Requests per second that are too many even for a few moments. */
const MIN_EXCESS = 1_000;

const READ = requestText("GET", "/read");
const UPGRADE = requestText("GET", "/graphql", {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol": "graphql-transport-ws",
});
const SUBSCRIBE = requestText(
  "POST",
  "/graphql",
  { Accept: "text/event-stream" },
  { query: "subscription { latest }" },
);
const HALF_HEAD = "GET /read HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
const HALF_BODY =
  "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";

/** Other clients notice nothing. */
const unnoticed: Seen = { isUnnoticed: true };

/** Clients that behave badly, and what the others notice of it. */
export const clientCells: readonly Cell[] = [
  {
    resource: "clients",
    fault: "gone",
    sees: { isUnnoticed: true, metrics: ["portico_live_connections 0", "portico_connections_open < 50"] },
    start: withClients(async (crowd) => {
      for (let count = 0; count < TIMES; count++) {
        for (const bytes of [SUBSCRIBE, HALF_BODY, READ]) await crowd.join(CLIENTS / 3, bytes);
        await sleep(TURN_MS);
        crowd.leave();
      }
    }),
  },
  {
    resource: "clients",
    fault: "frozen",
    sees: { metrics: ["process_memory_usage_bytes < 3e8"] },
    start: withClients(async (crowd) => {
      await crowd.join(CLIENTS, "");
      crowd.stopReading();
      crowd.send(READ.repeat(UNREAD));
    }),
  },
  {
    resource: "clients",
    fault: "frozen",
    how: "subscribers",
    sees: { isUnnoticed: true, metrics: ["process_memory_usage_bytes < 4e8"] },
    start: withClients(async (crowd, app) => {
      for (let count = 0; count < CLIENTS; count += AT_ONCE) {
        await crowd.join(AT_ONCE, SUBSCRIBE);
        await crowd.until("answered", TIMEOUT_MS);
      }
      crowd.expect(200);
      crowd.stopReading();
      for (let sent = 0; sent < EVENTS; sent += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => app.request("/publish")));
    }),
  },
  {
    resource: "clients",
    fault: "slow",
    sees: unnoticed,
    start: withClients(async (crowd) => {
      await crowd.join(CLIENTS, HALF_HEAD);
      await crowd.join(CLIENTS, HALF_BODY);
      const turn = setInterval(() => crowd.send(" "), TURN_MS);
      await crowd.until("closed", TIMEOUT_MS).finally(() => clearInterval(turn));
      crowd.expect(408);
    }),
  },
  {
    resource: "clients",
    fault: "full",
    sees: unnoticed,
    start: withClients(async (_crowd, app) => {
      const client = Client.get(app.port, "/read", TIMEOUT_MS);
      expectAll(await client.closedLoop(5, CLOSED), ["200"]);
      client.close();
    }),
  },
  {
    resource: "clients",
    fault: "full",
    how: "three times as much as the process can do",
    sees: { metrics: ['portico_unavailable_responses_total{reason="OVERLOADED"}'] },
    start: withClients(async (_crowd, app) => {
      const client = Client.get(app.port, "/read", TIMEOUT_MS);
      const { goodput } = await client.closedLoop(3, PEAK);
      const traffic = await client.openLoop(5, Math.max(3 * goodput, MIN_EXCESS));
      // The system may drop connections that the process has not accepted.
      expectAll(traffic, ["200", "503", "closed", "timeout"]);
      client.close();
    }),
  },
  {
    resource: "clients",
    fault: "full",
    how: "5,000 sockets at once",
    sees: { metrics: ["portico_live_connections 0"] },
    start: withClients(async (crowd) => {
      await crowd.join(SOCKETS, UPGRADE);
      await crowd.until("answered", TIMEOUT_MS);
      crowd.expect(101, 503);
    }),
  },
  {
    resource: "clients",
    fault: "partitioned",
    sees: { isUnnoticed: true, metrics: ["portico_live_connections 0"] },
    start: withDistantClients(async (crowd, network) => {
      await crowd.join(CLIENTS, UPGRADE);
      await crowd.until("answered", TIMEOUT_MS);
      crowd.expect(101);
      network.silence();
    }),
  },
  {
    resource: "clients",
    fault: "flapping",
    sees: { isUnnoticed: true, metrics: ["portico_live_connections 0"] },
    start: withClients(async (crowd) => {
      for (let count = 0; count < TIMES; count++) {
        await crowd.join(CLIENTS, UPGRADE);
        await crowd.until("answered", TIMEOUT_MS);
        crowd.expect(101);
        crowd.leave();
      }
    }),
  },
  { resource: "clients", fault: "refusing", impossible: "a client opens its connections itself" },
  {
    resource: "clients",
    fault: "answering wrongly",
    sees: unnoticed,
    start: withClients(async (crowd) => {
      for (const bytes of ["\x16\x03\x01\x02\x00", "GET / HTTP/9.9\r\n\r\n", `${READ.slice(0, -2)}a b: c\r\n\r\n`])
        await crowd.join(CLIENTS / 3, bytes);
      await crowd.until("closed", TIMEOUT_MS);
      crowd.expect(400);
    }),
  },
  {
    resource: "clients",
    fault: "answering wrongly",
    how: "with the largest and deepest requests",
    sees: { isUnnoticed: true },
    start: withClients(async (crowd) => {
      for (const query of heavyQueries()) await heavy(crowd, query);
      await heavy(crowd, "x".repeat(900_000));
      crowd.expect(200, 400, 413);
    }),
  },
];

/** Sends one query on many connections. */
async function heavy(crowd: Crowd, query: string): Promise<void> {
  await crowd.join(HEAVY, requestText("POST", "/graphql", {}, { query }));
  await crowd.until("answered", TIMEOUT_MS);
}

/** About 75 to 100 kB each: aliases, braces, a chain of fragments and repeated fields. */
function heavyQueries(): readonly string[] {
  return [
    `{ ${times(6_000, (n) => `a${n}: hello`)} }`,
    `{ hello ${"{ a ".repeat(24_000)}${"}".repeat(24_000)} }`,
    `{ ...F0 } ${times(1_500, (n) => `fragment F${n} on Query { ...F${n + 1} }`)} fragment F1500 on Query { hello }`,
    `{ ${"hello ".repeat(15_000)} }`,
  ];
}

function times(count: number, text: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => text(n)).join(" ");
}

function expectAll({ outcomes, withoutRetryAfter }: Traffic, allowed: readonly string[]): void {
  const others = Object.keys(outcomes).filter((outcome) => !allowed.includes(outcome));
  if (others.length > 0 || withoutRetryAfter > 0)
    throw new Error(`the clients received ${JSON.stringify(outcomes)}, ${withoutRetryAfter} without Retry-After`);
}
