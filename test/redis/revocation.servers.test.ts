import { setTimeout as sleep } from "node:timers/promises";
import { memoryStores, PorticoApp } from "portico";
import { RedisKeyValue } from "portico/redis";
import { logCatcher, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ask, RedisSentinelServers } from "../../lab/servers/redis-cluster-servers.ts";
import { newPrefix, RedisServer } from "../../lab/servers/redis-server.ts";
import { signIn } from "../sign-in.ts";
import { shopApp } from "./shop-app.ts";

const unavailable = { status: 503, code: "STORE_UNAVAILABLE", headers: { "retry-after": "1" } };

async function started(options: readonly string[] = []): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  onTestFinished(() => server.remove());
  return server;
}

async function primaryWithReplica(): Promise<{ readonly primary: RedisServer; readonly replica: RedisServer }> {
  const primary = await started(["--repl-diskless-sync-delay", "0"]);
  const replica = await started(["--replicaof", "127.0.0.1", String(primary.port)]);
  await expect.poll(() => ask(primary, ["INFO", "replication"]).then(String)).toMatch("state=online");
  await expect.poll(() => opened(primary.url).confirm("a").catch(String)).toBe(undefined);
  return { primary, replica };
}

function opened(address: ConstructorParameters<typeof RedisKeyValue>[0], prefix: string = newPrefix()): RedisKeyValue {
  const store = new RedisKeyValue(address, { prefix });
  onTestFinished(() => store.close());
  return store;
}

describe("confirm", () => {
  it("resolves with a replica that has the writes, and rejects while it is frozen and after it was killed", async () => {
    const { primary, replica } = await primaryWithReplica();
    const store = opened(primary.url);
    await store.confirm("a");

    replica.freeze();
    await expect(store.confirm("a")).rejects.toMatchObject(unavailable);
    replica.thaw();
    await expect.poll(() => store.confirm("a").catch(String)).toBe(undefined);
    await replica.kill();
    await expect.poll(() => ask(primary, ["INFO", "replication"]).then(String)).toMatch("connected_slaves:0");

    await expect(store.confirm("a")).rejects.toMatchObject(unavailable);
    await replica.start();
    await expect.poll(() => store.confirm("a").catch(String)).toBe(undefined);
  });

  it("covers the writes of other connections", async () => {
    const { primary, replica } = await primaryWithReplica();
    const [one, other] = [opened(primary.url), opened(primary.url)];
    await other.confirm("a");
    replica.freeze();
    onTestFinished(() => replica.thaw());

    await one.set("a", "1");

    await expect(other.confirm("a")).rejects.toMatchObject(unavailable);
  });

  it("needs no replica if the server has never had one, nor the right to read whether it has", async () => {
    const server = await started(["--user", "hosted", "on", "nopass", "~*", "&*", "+@all", "-info", "-wait"]);

    await expect(opened(server.url).confirm("a")).resolves.toBe(undefined);
    await expect(opened(server.url.replace("//", "//hosted:any@")).confirm("a")).resolves.toBe(undefined);
  });

  it("asks a primary to wait at most once a second while its replica is frozen", async () => {
    const { primary, replica } = await primaryWithReplica();
    const store = opened(primary.url);
    await store.confirm("a");
    replica.freeze();
    onTestFinished(() => replica.thaw());
    const waits = async (): Promise<number> =>
      Number(/cmdstat_wait:calls=(\d+)/.exec(String(await ask(primary, ["INFO", "commandstats"])))?.[1]);
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    await expect(store.confirm("a")).rejects.toMatchObject(unavailable);
    const before = await waits();

    for (let count = 0; count < 5; count++) await expect(store.confirm("a")).rejects.toMatchObject(unavailable);
    const within = (await waits()) - before;
    vi.advanceTimersByTime(1_001);
    await expect(store.confirm("a")).rejects.toMatchObject(unavailable);

    expect([within, (await waits()) - before]).toEqual([0, 1]);
  });
});

describe("a session", () => {
  it("is not ended while no replica can confirm it, so that a second attempt is not told that it is ended", async () => {
    const { primary, replica } = await primaryWithReplica();
    const durable = opened(primary.url);
    const client = testClient(shopApp({ ...memoryStores(), durable })).withCookies();
    await client.post("/login/ann");
    replica.freeze();

    const refused = [await client.post("/logout"), await client.post("/logout")];
    const meanwhile = await client.get("/me");
    replica.thaw();
    await expect.poll(async () => (await client.post("/logout")).status).toBe(204);

    expect(refused.map(({ status, headers }) => [status, headers["retry-after"]])).toEqual([
      [503, "1"],
      [503, "1"],
    ]);
    expect(meanwhile.status).toBe(200);
    expect((await client.get("/me")).status).toBe(401);
  });
});

describe("at startup", () => {
  const warned = async (url: string): Promise<readonly string[]> => {
    const log = logCatcher();
    const app = new PorticoApp({ stores: { ...memoryStores(), durable: opened(url) }, logger: log });
    await app.listen({ port: 0 });
    await app.close();
    return log.lines.filter(({ level }) => Number(level) >= 40 || level === "warn").map(({ msg }) => msg);
  };

  it("min-replicas-to-write 0 is a warning where there is a replica", async () => {
    const { primary } = await primaryWithReplica();

    const without = await warned(primary.url);
    await ask(primary, ["CONFIG", "SET", "min-replicas-to-write", "1"]);
    const set = await warned(primary.url);
    await ask(primary, ["ACL", "SETUSER", "hosted", "on", "nopass", "~*", "&*", "+@all", "-config"]);
    const refused = await warned(primary.url.replace("//", "//hosted:any@"));

    expect(without).toEqual([expect.stringMatching("min-replicas-to-write of the durable store is 0")]);
    expect(set).toEqual([]);
    expect(refused).toEqual([expect.stringMatching("could not read min-replicas-to-write")]);
    expect(await warned((await started()).url)).toEqual([]);
  });
});

describe("behind Sentinel, with the primary cut off from its replica", () => {
  let servers: RedisSentinelServers;
  beforeAll(async () => {
    servers = await RedisSentinelServers.start();
  });
  afterAll(() => servers.remove());

  it("no session comes back whose end was acknowledged", async () => {
    const prefix = newPrefix();
    const durable = opened(servers.address, prefix);
    const app = shopApp({ ...memoryStores(), durable });
    const client = testClient(app);
    const cookies: string[] = [];
    for (let count = 0; count < 20; count++) cookies.push((await signIn(client, "/login/ann")).cookie);
    const send = async (method: "GET" | "POST", path: string, cookie: string): Promise<number> =>
      (await client.request(method, path, { headers: { cookie } })).status;
    await ask(servers.servers[0], ["WAIT", "1", "1000"]);
    // The connection has seen the replica.
    await sleep(1_100);

    await servers.partition();
    onTestFinished(() => servers.heal());
    const ended: string[] = [];
    for (const cookie of cookies) if ((await send("POST", "/logout", cookie)) === 204) ended.push(cookie);
    await expect.poll(() => servers.hasFailedOver(), { timeout: 60_000 }).toBe(true);
    // Only the new primary has it.
    await ask(servers.servers[1], ["SET", `${prefix}:durable:{place}`, "new primary"]);
    await expect.poll(() => durable.get("place").catch(String), { timeout: 60_000 }).toBe("new primary");

    const known = await Promise.all(cookies.map((cookie) => send("GET", "/me", cookie)));
    expect(known).toEqual(cookies.map((cookie) => (ended.includes(cookie) ? 401 : 200)));
    const late = await Promise.all(cookies.map((cookie) => send("POST", "/logout", cookie)));
    expect(late).toEqual(cookies.map(() => 204));
  }, 120_000);
});
