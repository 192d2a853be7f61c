import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { newPrefix, SHARED_URL } from "../../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../../redis/remove-keys.ts";
import { migratedPlace, type Place } from "../../../sql/accounts/databases.ts";
import { type AccountProcess, accountProcess, type Load } from "../races/account-process.ts";

// npm run timing: all of them, on a machine that does nothing else.
const IS_FULL = process.env["PORTICO_TIMING"] === "full";
const LOGINS = IS_FULL ? 10_000 : 3_000;
/** The time argon2id takes for one password. */
const HASH_BYTES = 19_456 * 1_024;

let place: Place;
let flooded: AccountProcess;
let idle: AccountProcess;
const prefix = newPrefix();
afterEach(async () => {
  await Promise.all([flooded?.close(), idle?.close()]);
  await removeKeys(prefix);
  await place?.remove();
});

it(`[auth:AU-103] handles ${LOGINS} sign-ins over 100 connections: few are hashed, the rest get Retry-After, and the process stays responsive`, async () => {
  place = await migratedPlace("PostgreSQL");
  const urls = { database: place.url, redis: SHARED_URL, prefix };
  // The second does nothing: what holds it up is the machine, and no fault of the first.
  [flooded, idle] = await Promise.all([accountProcess(urls), accountProcess(urls)]);
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  await Promise.all(Array.from({ length: 20 }, (_, n) => login(agent, -n)));
  const before = await flooded.report();

  flooded.measure();
  idle.measure();
  const answers = await Promise.all(Array.from({ length: LOGINS }, (_, n) => login(agent, n)));
  const after: Load = await flooded.report();
  agent.destroy();

  const statuses = Map.groupBy(answers, ({ status }) => status);
  expect(new Set(statuses.keys())).toEqual(new Set([401, 503]));
  expect(statuses.get(401)?.length).toBeGreaterThan(64);
  expect(statuses.get(503)?.every(({ retryAfter }) => Number(retryAfter) >= 1)).toBe(true);
  // Two at once, however many wait; and what 100 connections and their answers take.
  expect(after.rss - before.rss).toBeLessThan(2 * HASH_BYTES + 128 * 1_048_576);
  const machine = await idle.report();
  // Where others use the machine, too, a process that does nothing is held up as well, and one with three threads more than that.
  const bound = IS_FULL ? 50 : 50 + 2 * machine.p99Ms;
  expect(after.p99Ms, `${after.p99Ms} ms, an idle process ${machine.p99Ms} ms`).toBeLessThan(bound);
});

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Each has its own account and IP address, so that no rate limit prevents hashing. */
async function login(agent: Agent, n: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(
    {
      agent,
      port: flooded.port,
      host: "127.0.0.1",
      path: "/account/login",
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
      },
    },
    (answer) => {
      text(answer).then(
        () => resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"] }),
        reject,
      );
    },
  );
  sent.on("error", reject);
  sent.end(JSON.stringify({ identifier: `user${n}`, password: "wrong password" }));
  return promise;
}
