import { redisStores } from "portico/redis";
import {
  type LiveClient,
  type LogCatcher,
  liveClient,
  logCatcher,
  manualClock,
  type TestResponse,
} from "portico/testing";
import { createClient } from "redis";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ask } from "../../lab/servers/redis-cluster-servers.ts";
import { RedisServer } from "../../lab/servers/redis-server.ts";
import { signIn } from "../sign-in.ts";
import { startTraffic, type Traffic } from "../traffic.ts";
import { shopApp } from "./shop-app.ts";

const USERS = Array.from({ length: 20 }, (_, n) => `user${n}`);
const PERSISTENT = ["--appendonly", "yes", "--appendfsync", "always"];

/** One response of the traffic. */
interface Answer {
  readonly user: string;
  readonly response: TestResponse;
}

describe("sessions in Redis", () => {
  let server: RedisServer;
  let log: LogCatcher;
  let client: LiveClient;
  let cookies: Map<string, string>;

  async function begin(options: readonly string[], timeoutSeconds = 0.5): Promise<void> {
    server = await RedisServer.start(options);
    log = logCatcher();
    client = await liveClient(shopApp(redisStores(server.url, { timeoutSeconds }), log));
    cookies = new Map();
    for (const user of USERS) cookies.set(user, (await signIn(client, `/login/${user}`)).cookie);
  }
  afterEach(async () => {
    await client.close();
    await server.remove();
  });

  it("never treats a signed-in caller as anonymous while Redis is killed under load, and recovers by itself", async () => {
    // A killed server refuses connections. On a busy machine, a short timeout would be a second outage.
    await begin(PERSISTENT, 30);
    const traffic = trafficOf(client, cookies);
    await traffic.until(100, ({ response }) => response.status === 200);

    await server.kill();
    await traffic.until(50, ({ response }) => response.status === 503);
    await server.start();
    await expect.poll(() => who(client, cookies.get("user0") ?? "")).toEqual([200, "user0"]);
    await expect.poll(async () => (await traffic.next(50)).every(({ response }) => response.status === 200)).toBe(true);
    const answers = await traffic.stop();

    expectSomebodyOr503(answers);
    // The old sessions are still valid.
    for (const [user, cookie] of cookies) expect(await who(client, cookie)).toEqual([200, user]);
    expect(log.lines.filter(({ msg }) => msg.includes("(durable)")).map(({ level }) => level)).toEqual([
      "error",
      "info",
    ]);
  });

  it("respond while Redis hangs, without a command for each request, and work again when it continues", async () => {
    await begin(PERSISTENT);
    const cookie = cookies.get("user0") ?? "";
    const reads = async (): Promise<number> =>
      Number(/cmdstat_get:calls=(\d+)/.exec(String(await ask(server, ["INFO", "commandstats"])))?.[1] ?? 0);
    const before = await reads();
    const burst = (count: number) => Promise.all(Array.from({ length: count }, () => who(client, cookie)));

    server.freeze();
    // These wait for the timeout. Those that follow find out that Redis is away, and do not wait.
    const first = await burst(20);
    const following = await burst(400);
    server.thaw();
    await expect.poll(() => who(client, cookie)).toEqual([200, "user0"]);

    expect(new Set([...first, ...following].map(([status]) => status))).toEqual(new Set([503]));
    // Redis executes after the pause what was written to it.
    expect((await reads()) - before).toBeLessThan(200);
  });

  it("[ATH-17] return 503 with a cookie and 401 without one, report that a login failed, and serve public routes", async () => {
    await begin(PERSISTENT);
    await server.kill();

    const gated = await client.get("/me", { headers: { cookie: cookies.get("user0") ?? "" } });
    const nobody = await client.get("/me");
    const login = await client.post("/login/ann");
    const either = await client.get("/either", { headers: { cookie: cookies.get("user0") ?? "" } });

    expect([
      login.status,
      (login.json() as { code: string }).code,
      login.headers["retry-after"],
      login.cookies,
    ]).toEqual([503, "service_unavailable", "1", []]);
    expect([gated.status, gated.headers["retry-after"], nobody.status]).toEqual([503, "5", 401]);
    expect([either.status, either.cookies]).toEqual([200, []]);
  });

  it("are lost when a Redis without persistence is killed, so the response is 401", async () => {
    await begin([]);
    await server.kill();
    await server.start();

    await expect.poll(async () => (await who(client, cookies.get("user0") ?? ""))[0]).toBe(401);
    expect(await who(client, (await signIn(client, "/login/user0")).cookie)).toEqual([200, "user0"]);
  });

  it("find the primary again when their server has become a replica", async () => {
    await begin(PERSISTENT);
    const admin = await createClient({ url: server.url }).connect();
    await admin.sendCommand(["REPLICAOF", "127.0.0.1", "1"]);

    expect((await client.post("/login/ann")).status).toBe(503);
    await admin.sendCommand(["REPLICAOF", "NO", "ONE"]);

    await expect.poll(async () => (await client.post("/login/ann")).status).toBe(204);
    admin.destroy();
  });

  it("reject writes that do not fit, and keep working with existing entries", async () => {
    await begin(["--maxmemory", "3mb"]);
    const stores = redisStores(server.url);

    const fill = async (): Promise<void> => {
      for (let n = 0; n < 10_000; n++) await stores.durable.set(`fill ${n}`, "x".repeat(10_000), 60_000);
    };

    await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL", status: 503 });
    expect(await who(client, cookies.get("user0") ?? "")).toEqual([200, "user0"]);
    await Promise.all([stores.durable.close(), stores.counters.close(), stores.bus.close()]);
  });
});

describe("a session whose last use cannot be written because Redis is full", () => {
  it("stays valid, fails the readiness check, and is written when there is room", async () => {
    const server = await RedisServer.start();
    onTestFinished(() => server.remove());
    const clock = manualClock(Date.now());
    const client = await liveClient(shopApp(redisStores(server.url), false, { idleSeconds: 4_000 }, clock));
    onTestFinished(() => client.close());
    const admin = await createClient({ url: server.url }).connect();
    onTestFinished(() => admin.destroy());
    const { cookie } = await signIn(client, "/login/ann");
    const ready = async () => {
      const answer = await client.get("/readyz");
      return [answer.status, (answer.json() as { checks: unknown }).checks];
    };

    await admin.sendCommand(["CONFIG", "SET", "maxmemory", "1"]);
    // A quarter of the idle time, after which the next use is written.
    clock.advance(1_200_000);
    const full = await who(client, cookie);
    const readyWhenFull = await ready();
    await admin.sendCommand(["CONFIG", "SET", "maxmemory", "0"]);
    const uses: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      uses.push(await who(client, cookie));
      clock.advance(1_500_000);
    }

    expect(full).toEqual([200, "ann"]);
    expect(readyWhenFull).toEqual([503, { durable: "failed", counters: "ok", bus: "ok", writes: "failed" }]);
    expect(await ready()).toEqual([200, { durable: "ok", counters: "ok", bus: "ok", writes: "ok" }]);
    expect([...uses, await who(client, cookie)]).toEqual(Array.from({ length: 4 }, () => [200, "ann"]));
  });
});

describe("limits in Redis", () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => server.remove());

  it("hold in each process during an outage, and across processes again after it", async () => {
    const log = logCatcher();
    const client = await liveClient(shopApp(redisStores(server.url), log));
    const order = async (): Promise<number> => (await client.post("/orders")).status;
    const orders = async (count: number): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let n = 0; n < count; n++) statuses.push(await order());
      return statuses;
    };
    expect(await orders(4)).toEqual([200, 200, 200, 200]);

    await server.kill();
    const alone = await orders(12);
    await server.start();

    expect(alone).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
    expect(log.text).toContain("redis: connection lost (counters); falling back to in-process counting");
    // Redis has lost the counts and starts again.
    await expect.poll(order).toBe(200);
    await client.close();
  });

  it("reject immediately without the in-process fallback", async () => {
    const { counters } = redisStores(server.url, { insurance: false, timeoutSeconds: 60 });
    await counters.increment("a", 60_000);
    await server.kill();

    // Four that wait for their timeouts would take longer than a test may.
    for (let attempt = 0; attempt < 4; attempt++)
      await expect(counters.increment("a", 60_000)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await counters.close();
  });
});

async function who(client: LiveClient, cookie: string): Promise<readonly [number, unknown]> {
  const response = await client.get("/me", { headers: { cookie } });
  return [response.status, response.status === 200 ? response.json() : null];
}

/** Each request is one of the users. */
function trafficOf(client: LiveClient, cookies: ReadonlyMap<string, string>): Traffic<Answer> {
  return startTraffic(async (request) => {
    const user = USERS[request % USERS.length] as string;
    return { user, response: await client.get("/me", { headers: { cookie: cookies.get(user) ?? "" } }) };
  });
}

/** Expects no 401, no other user, and no deleted cookie. */
function expectSomebodyOr503(answers: readonly Answer[]): void {
  const wrong = answers.filter(({ user, response }) =>
    response.status === 200 ? response.json() !== user : response.status !== 503,
  );
  expect(wrong.map(({ response }) => [response.status, response.text()])).toEqual([]);
  expect(answers.filter(({ response }) => response.cookies.length > 0)).toEqual([]);
  const refused = answers.filter(({ response }) => response.status === 503);
  expect(refused.filter(({ response }) => response.headers["retry-after"] === undefined)).toEqual([]);
}
