import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ConfigurationError, memoryStores, PorticoApp } from "portico";
import { RedisCounter, RedisKeyValue, RedisPubSub, redisStores } from "portico/redis";
import { liveClient, logCatcher, resetLimits, testClient } from "portico/testing";
import { createClient } from "redis";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { newPrefix, RedisServer, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { removeKeys } from "./remove-keys.ts";
import { runFixture } from "./second-process.ts";

describe("redisStores", () => {
  it.each([
    "http://127.0.0.1",
    "127.0.0.1:6379",
    "redis://:hunter2@",
    "redis://:hunter2@127.0.0.1/zero",
    "redis://:hunter2%zz@127.0.0.1",
    7,
  ])("rejects %s as a URL, without repeating it", (url) => {
    const make = (): unknown => redisStores(url as string);

    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(/^redisStores/);
    expect(make).not.toThrow(/hunter2/);
  });

  it("names the role whose URL is wrong, missing or unknown", () => {
    const urls = { durable: SHARED_URL, counters: SHARED_URL, bus: SHARED_URL };

    expect(() => redisStores({ ...urls, counters: "nowhere" })).toThrow("redisStores.counters must be a URL");
    expect(() => redisStores({ durable: SHARED_URL } as typeof urls)).toThrow("redisStores.counters must be a URL");
    expect(() => redisStores({ ...urls, buss: SHARED_URL } as typeof urls)).toThrow('Did you mean "bus"?');
    expect(() => new RedisPubSub("nowhere")).toThrow("RedisPubSub.address must be a URL");
  });

  it.each([
    [{ prefix: "" }, "redisStores.prefix must be a non-empty string without braces"],
    [{ prefix: "a{b}" }, "redisStores.prefix must be a non-empty string without braces"],
    [{ timeoutSeconds: 0 }, "redisStores.timeoutSeconds must be a number of seconds above 0, up to 60, received 0"],
    [{ insurance: 1 }, "redisStores.insurance must be true or false"],
    [{ maxQueued: 0 }, "redisStores.maxQueued must be a positive integer"],
    [{ timeout: 1 }, 'redisStores: unknown option "timeout"'],
  ])("rejects %j", (options, sentence) => {
    expect(() => redisStores(SHARED_URL, options as object)).toThrow(sentence);
  });

  it("opens no connection before the first call", async () => {
    const before = process.getActiveResourcesInfo().length;

    redisStores("redis://127.0.0.1:1");

    expect(process.getActiveResourcesInfo()).toHaveLength(before);
  });
});

it("is loaded only by its own entry point", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../src/index.ts", import.meta.url))],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
  });
  const inputs = Object.entries(metafile.inputs);

  expect(inputs.map(([file]) => file)).toContain("src/stores/memory-counter.ts");
  expect(inputs.map(([file]) => file).filter((file) => file.startsWith("src/redis/"))).toEqual([]);
  expect(inputs.flatMap(([, { imports }]) => imports.map(({ path }) => path))).not.toContain("redis");
});

describe("on a server", () => {
  const prefix = newPrefix();
  afterAll(() => removeKeys(prefix));

  it("puts everything under its prefix, with the key in braces, and an expiry on every counter", async () => {
    const stores = redisStores(SHARED_URL, { prefix });
    const client = await createClient({ url: SHARED_URL }).connect();

    await stores.durable.set("session:1", "x", 60_000);
    await stores.counters.increment("rate:1", 60_000);

    expect((await client.keys(`${prefix}*`)).toSorted()).toEqual([
      `${prefix}:counters:{rate:1}:60000`,
      `${prefix}:durable:{session:1}`,
    ]);
    expect(await client.pTTL(`${prefix}:counters:{rate:1}:60000`)).toBeGreaterThan(59_000);
    expect(await client.pTTL(`${prefix}:durable:{session:1}`)).toBeGreaterThan(59_000);
    client.destroy();
    await closeAll(stores);
  });

  it("separates applications with different prefixes, on the bus as well", async () => {
    const [one, two] = [redisStores(SHARED_URL, { prefix }), redisStores(SHARED_URL, { prefix: `${prefix}-two` })];
    const numbers = { name: "numbers" };
    const iterator = two.bus.subscribe<number>(numbers)[Symbol.asyncIterator]();
    await one.durable.set("a", "x", 60_000);
    await two.bus.settled();

    await one.bus.publish<number>(numbers, 1);
    await two.bus.publish<number>(numbers, 2);

    expect(await two.durable.get("a")).toBe(null);
    expect(await iterator.next()).toEqual({ done: false, value: 2 });
    await closeAll(one);
    await closeAll(two);
  });

  it("resets only the counters of its own prefix, even if the prefix contains pattern characters", async () => {
    const wild = redisStores(SHARED_URL, { prefix: `${prefix}:[*]?` });
    const other = redisStores(SHARED_URL, { prefix: `${prefix}:*!` });
    await wild.durable.set("a", "x", 60_000);
    // More than one scan gives.
    await Promise.all(Array.from({ length: 2_500 }, (_, n) => wild.counters.increment(`key ${n}`, 60_000)));
    await other.counters.increment("key 1", 60_000);

    await resetLimits(new PorticoApp({ stores: wild, logger: false }));

    const counts = await Promise.all(
      Array.from({ length: 2_500 }, (_, n) => wild.counters.increment(`key ${n}`, 60_000)),
    );
    expect(counts.every(({ value }) => value === 1)).toBe(true);
    expect(await wild.durable.get("a")).toBe("x");
    expect((await other.counters.increment("key 1", 60_000)).value).toBe(2);
    await closeAll(wild);
    await closeAll(other);
  });

  it("counts each hit once across the stores of two processes", async () => {
    const [one, two] = [new RedisCounter(SHARED_URL, { prefix }), new RedisCounter(SHARED_URL, { prefix })];

    const counts = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? one : two).increment("together", 60_000)),
    );

    expect(counts.map(({ value }) => value).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    await one.close();
    await two.close();
  });

  it("works after Redis has lost its scripts", async () => {
    const store = new RedisKeyValue(SHARED_URL, { prefix });
    const client = await createClient({ url: SHARED_URL }).connect();
    await store.set("a", "one", 60_000);

    for (const [before, after] of [
      ["one", "two"],
      ["two", "three"],
    ] as const) {
      await client.scriptFlush();
      expect(await store.compareAndSet("a", before, after, 60_000)).toBe(true);
    }

    expect(await store.get("a")).toBe("three");
    client.destroy();
    await store.close();
  });

  it("rejects calls after it was closed, and never reconnects", async () => {
    const { durable } = redisStores(SHARED_URL, { prefix });
    await durable.get("a");
    await durable.close();

    await expect(durable.get("a")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: "Redis is closed (durable)",
    });
  });

  it.each(["app", "script"])("lets a process end after it was closed (%s)", async (how) => {
    const child = runFixture("ends-by-itself.ts", [SHARED_URL, prefix, how]);

    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("lets a process end that never reached its Redis", async () => {
    const child = runFixture("ends-by-itself.ts", ["redis://127.0.0.1:1", prefix, "script"]);

    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

describe("the startup of an application", () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => server.remove());

  it.each(["allkeys-lru", "allkeys-random", "volatile-ttl", "volatile-lru"])(
    "fails on a durable role whose Redis evicts by %s, and leaves no connection behind",
    async (policy) => {
      const admin = await createClient({ url: server.url }).connect();
      await admin.configSet("maxmemory-policy", policy);
      const app = new PorticoApp({ stores: redisStores(server.url), logger: false });

      const started = app.listen({ port: 0 });

      await expect(started).rejects.toThrow(ConfigurationError);
      await expect(started).rejects.toThrow(
        `PorticoApp.stores.durable is a Redis with maxmemory-policy ${policy}, which evicts keys`,
      );
      expect(await connections(admin)).toBe(1);
      admin.destroy();
    },
  );

  it("does not check eviction for the counters and the bus", async () => {
    const admin = await createClient({ url: server.url }).connect();
    await admin.configSet("maxmemory-policy", "allkeys-lru");
    const stores = redisStores({ durable: SHARED_URL, counters: server.url, bus: server.url });
    const client = await liveClient(new PorticoApp({ stores, logger: false }).get("/", () => "here"));

    expect((await client.get("/")).json()).toBe("here");
    expect(await connections(admin)).toBe(3);

    await client.close();
    expect(await connections(admin)).toBe(1);
    admin.destroy();
  });

  it("logs a warning if the policy cannot be read", async () => {
    const admin = await createClient({ url: server.url }).connect();
    await admin.sendCommand(["ACL", "SETUSER", "shop", "on", ">hunter2", "~*", "&*", "+@all", "-info"]);
    const log = logCatcher();
    const stores = redisStores(server.url.replace("//", "//shop:hunter2@"));
    const app = new PorticoApp({ stores, logger: log }).get("/", () => "here");

    expect((await testClient(app).get("/")).json()).toBe("here");

    expect(log.text).toContain("redis: could not read maxmemory-policy for the durable store");
    expect(log.text).not.toContain("hunter2");
    await app.close();
    admin.destroy();
  });

  it("fails within seconds if the durable role is down, and names its host", async () => {
    await server.kill();
    const log = logCatcher();
    const stores = { ...memoryStores(), durable: new RedisKeyValue(server.url.replace("//", "//:hunter2@")) };
    const app = new PorticoApp({ stores, logger: log });

    await expect(app.listen({ port: 0 })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: `cannot start the durable role: no connection to Redis at 127.0.0.1:${server.port}`,
    });
    expect(log.text).not.toContain("hunter2");
  });

  it("waits a moment for a Redis that is still starting", async () => {
    await server.kill();
    const app = new PorticoApp({ stores: redisStores(server.url), logger: false }).get("/", () => "here");

    const answer = testClient(app).get("/");
    setTimeout(() => void server.start(), 500);

    expect((await answer).json()).toBe("here");
    await app.close();
  });

  it("succeeds without counters if there is a fallback, and fails without one", async () => {
    await server.kill();
    const log = logCatcher();
    const insured = { ...memoryStores(), counters: new RedisCounter(server.url) };
    const bare = { ...memoryStores(), counters: new RedisCounter(server.url, { insurance: false }) };
    const app = new PorticoApp({ stores: insured, logger: log }).get("/", () => "here");

    expect((await testClient(app).get("/")).json()).toBe("here");
    await expect(new PorticoApp({ stores: bare, logger: false }).inject("/")).rejects.toThrow("the counters role");

    expect(log.lines.filter(({ level }) => level === "error").map(({ msg }) => msg)).toEqual([
      "redis: connection lost (counters); falling back to in-process counting",
    ]);
    await app.close();
  });

  it("reports in the readiness check which role is down, and when it is back", async () => {
    const app = new PorticoApp({ stores: redisStores(server.url), logger: false });
    const client = await liveClient(app);
    const roles = { durable: "ok", counters: "ok", bus: "ok" };
    expect((await client.get("/readyz")).json()).toEqual({ status: "ready", checks: { ...roles, writes: "ok" } });

    await server.kill();
    const down = await client.get("/readyz");
    await server.start();

    expect([down.status, down.json()]).toEqual([
      503,
      // The result for writes may be up to a second old.
      { status: "not ready", checks: { ...roles, durable: "failed", bus: "failed", writes: expect.any(String) } },
    ]);
    await expect.poll(async () => (await client.get("/readyz")).status).toBe(200);
    await client.close();
  });
});

async function closeAll({ durable, counters, bus }: ReturnType<typeof redisStores>): Promise<void> {
  await Promise.all([durable.close(), counters.close(), bus.close()]);
}

async function connections(admin: { readonly sendCommand: (args: string[]) => Promise<unknown> }): Promise<number> {
  return String(await admin.sendCommand(["CLIENT", "LIST"]))
    .trim()
    .split("\n").length;
}
