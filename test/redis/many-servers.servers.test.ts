import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ConfigurationError, memoryStores, PorticoApp, PubSubGap, topic } from "portico";
import {
  type RedisAddress,
  RedisCounter,
  RedisKeyValue,
  type RedisOptions,
  RedisPubSub,
  redisStores,
} from "portico/redis";
import { logCatcher } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ask, RedisClusterServers, RedisSentinelServers } from "../../lab/servers/redis-cluster-servers.ts";
import { newPrefix, RedisServer, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { freePort } from "../../lab/servers/start-within.ts";
import { hashSlot } from "../../src/redis/hash-slot.ts";
import { counterContract, keyValueContract, pubSubContract } from "../stores/contract.ts";

const options = { prefix: "portico-test" };
const news = topic<number>("news");

/** The contract suites of the three roles on several servers. A connection to all of them takes long, so tests share it. */
function contracts(name: string, address: () => RedisAddress): void {
  const opened: { close(): Promise<void> }[] = [];
  afterAll(() => Promise.all(opened.map((each) => each.close())));
  const shared = <Opened extends { close(): Promise<void> }>(open: () => Opened): (() => Opened) => {
    let one: Opened | undefined;
    return () => {
      if (one === undefined) opened.push((one = open()));
      return one;
    };
  };
  const store = shared(() => new RedisKeyValue(address(), options));
  const counters = shared(() => new RedisCounter(address(), { ...options, insurance: false }));
  keyValueContract(`RedisKeyValue on ${name}`, () => ({ store: store() }));
  counterContract(`RedisCounter on ${name}`, () => ({ counters: counters() }));
  pubSubContract(`RedisPubSub on ${name}`, () => {
    const bus = new RedisPubSub(address(), { ...options, maxQueued: 10 });
    return {
      bus,
      lose: async (lost) => {
        for (let n = 0; n < 20; n++) await bus.publish(lost, n);
      },
      close: () => bus.close(),
    };
  });
}

function stores(address: RedisAddress): ReturnType<typeof redisStores> {
  const opened = redisStores(address, { prefix: newPrefix() });
  onTestFinished(() => opened.close());
  return opened;
}

/** Publishes until the subscription ends, and returns what it heard and how it ended. */
async function listen(bus: RedisPubSub): Promise<{ readonly heard: number[]; readonly ended: Promise<unknown> }> {
  const heard: number[] = [];
  const ended = (async () => {
    for await (const n of bus.subscribe(news)) heard.push(n);
  })().catch((error: unknown) => error);
  await bus.settled();
  await sleep(0);
  return { heard, ended };
}

describe("a Redis Cluster", () => {
  let servers: RedisClusterServers;
  beforeAll(async () => {
    servers = await RedisClusterServers.start();
  });
  afterAll(() => servers.remove());

  contracts("a cluster", () => servers.address);

  it("has the slot that the server computes for every key", async () => {
    const keys = ["", "a", "é{x", "{a}b", "}{", "x{}y{a}", "{{a}}", "prefix:durable:{session:1}", "\u{1f600}"];

    const slots = await Promise.all(keys.map((key) => ask(servers.servers[0], ["CLUSTER", "KEYSLOT", key])));

    expect(keys.map(hashSlot)).toEqual(slots);
  });

  it("keeps keys on every primary and deletes all counters", async () => {
    const { durable, counters } = stores(servers.address);
    const keys = Array.from({ length: 60 }, (_, n) => `key-${n}`);
    for (const key of keys) await durable.set(key, key, 60_000);
    for (const key of keys) await counters.increment(key, 60_000);

    await counters.resetAll();

    expect(await Promise.all(keys.map((key) => durable.get(key)))).toEqual(keys);
    expect(
      (await Promise.all(keys.map((key) => counters.increment(key, 60_000)))).every(({ value }) => value === 1),
    ).toBe(true);
  });

  it("follows a slot that moves, during the move and after it", async () => {
    const { durable } = stores(servers.address);
    const prefix = newPrefix();
    const store = new RedisKeyValue(servers.address, { prefix });
    onTestFinished(() => store.close());
    await store.set("moved", "1");

    await servers.move(`${prefix}:durable:{moved}`, async () => {
      expect(await store.compareAndSet("moved", "1", "2")).toBe(true);
      expect(await store.get("moved")).toBe("2");
    });

    expect(await store.get("moved")).toBe("2");
    expect(await store.compareAndSet("moved", "2", "3")).toBe(true);
    expect(await durable.get("nothing")).toBe(null);
  });

  it("tells the subscribers of a topic whose slot moves that events may be lost", async () => {
    const prefix = newPrefix();
    const bus = new RedisPubSub(servers.address, { prefix });
    onTestFinished(() => bus.close());
    const { heard, ended } = await listen(bus);
    await bus.publish(news, 1);
    await expect.poll(() => heard).toEqual([1]);

    await servers.move(`${prefix}:bus:news`);

    expect(await ended).toBeInstanceOf(PubSubGap);
    const again = await listen(bus);
    await bus.publish(news, 2);
    await expect.poll(() => again.heard).toEqual([2]);
  });

  it("serves the other slots while a primary is down, and its slots again after the failover", async () => {
    const prefix = newPrefix();
    const log = logCatcher();
    const store = new RedisKeyValue(servers.address, { prefix });
    const bus = new RedisPubSub(servers.address, { prefix });
    const app = new PorticoApp({ stores: { ...memoryStores(), durable: store, bus }, logger: log });
    await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const { heard, ended } = await listen(bus);
    await bus.publish(news, 1);
    await expect.poll(() => heard).toEqual([1]);
    const down = await servers.owner(`${prefix}:bus:news`);
    const keys = Array.from({ length: 40 }, (_, n) => `key-${n}`);
    const owners = await Promise.all(keys.map((key) => servers.owner(`${prefix}:durable:{${key}}`)));
    for (const key of keys) await store.set(key, "before");
    await sleep(1_100);

    await down.kill();
    const during = await Promise.allSettled(keys.map((key) => store.get(key)));

    const onDown = during.filter((_, n) => owners[n] === down);
    const others = during.filter((_, n) => owners[n] !== down);
    expect(onDown.length).toBeGreaterThan(0);
    expect(onDown.every(({ status }) => status === "rejected")).toBe(true);
    expect(others.every(({ status }) => status === "fulfilled")).toBe(true);
    await expect
      .poll(async () =>
        (await Promise.allSettled(keys.map((key) => store.get(key)))).every(({ status }) => status === "fulfilled"),
      )
      .toBe(true);
    expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(keys.map(() => "before"));
    expect(await ended).toBeInstanceOf(PubSubGap);
    await expect
      .poll(() =>
        store.check().then(
          () => "up",
          () => "down",
        ),
      )
      .toBe("up");
    const again = await listen(bus);
    await bus.publish(news, 2);
    await expect.poll(() => again.heard).toEqual([2]);

    await down.start();
  });

  it("waits at startup for a primary that refuses connections, as for a single server", async () => {
    const prefix = newPrefix();
    const log = logCatcher();
    const store = new RedisKeyValue(servers.address, { prefix });
    const app = new PorticoApp({ stores: { ...memoryStores(), durable: store }, logger: log });
    onTestFinished(() => app.close());
    const down = await servers.owner(`${prefix}:check`);
    await down.kill();

    const listening = app.listen({ port: 0 });
    await expect.poll(() => log.lines.map(({ msg }) => msg)).toContainEqual(expect.stringMatching("connection lost"));
    await down.start();

    await expect(listening).resolves.toBeDefined();
    await expect.poll(() => store.check().catch(String)).toBe(undefined);
  });

  it("leaves a primary that no longer belongs to the majority", async () => {
    const prefix = newPrefix();
    const bus = new RedisPubSub(servers.address, { prefix });
    onTestFinished(() => bus.close());
    const { ended } = await listen(bus);
    const frozen = await servers.owner(`${prefix}:bus:news`);

    frozen.freeze();
    onTestFinished(() => frozen.thaw());

    expect(await ended).toBeInstanceOf(PubSubGap);
    const again = await listen(bus);
    await bus.publish(news, 2);
    await expect.poll(() => again.heard).toEqual([2]);
  });
});

describe("a primary behind Sentinel", () => {
  let servers: RedisSentinelServers;
  beforeAll(async () => {
    servers = await RedisSentinelServers.start();
  });
  afterAll(() => servers.remove());

  contracts("Sentinel", () => servers.address);

  it("uses the new primary after a failover, with what was replicated, and tells subscribers", async () => {
    const { durable, bus, counters } = stores(servers.address);
    const { heard, ended } = await listen(bus);
    await bus.publish(news, 1);
    await expect.poll(() => heard).toEqual([1]);
    await durable.set("kept", "1");
    await counters.increment("a", 60_000);
    await ask(servers.servers[0], ["WAIT", "1", "1000"]);

    await servers.servers[0]?.kill();

    await expect(durable.get("kept")).rejects.toThrow("Redis does not respond (durable)");
    await expect.poll(() => durable.get("kept").catch(() => "down")).toBe("1");
    expect(await ended).toBeInstanceOf(PubSubGap);
    await durable.set("written", "2");
    expect(await ask(servers.servers[1], ["ROLE"])).toContain("master");
  });
});

describe("the address", () => {
  it.each<[unknown, string]>([
    [{ cluster: [] }, "redisStores.address.cluster is missing"],
    [{ cluster: ["redis://:hunter2@"] }, "redisStores.address.cluster must be a list of URLs"],
    [{ cluster: SHARED_URL }, "redisStores.address.cluster must be a list of URLs"],
    [{ sentinels: [SHARED_URL] }, "redisStores.address.primary is missing"],
    [{ sentinels: [SHARED_URL], primary: "hunter2" }, "redisStores.address.primary must be a URL"],
    [
      { sentinels: [SHARED_URL], primary: "redis://main", master: "main" },
      'redisStores.address: unknown option "master"',
    ],
    [
      { durable: SHARED_URL, counters: SHARED_URL, bus: { cluster: [7] } },
      "redisStores.bus.cluster must be a list of URLs",
    ],
  ])("%j is rejected, without repeating a URL", (address, sentence) => {
    const make = (): unknown => redisStores(address as RedisAddress);

    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(sentence);
    expect(make).not.toThrow(/hunter2/);
  });

  it("of a server that is not a cluster stops startup", async () => {
    const app = new PorticoApp({ stores: stores({ cluster: [SHARED_URL] }), logger: false });

    await expect(app.listen({ port: 0 })).rejects.toThrow(
      `cannot start the durable role: no connection to Redis at the cluster of ${new URL(SHARED_URL).host}`,
    );
  });

  it("with rediss uses TLS, with an authority of its own and a client certificate", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portico-tls-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const name = ["-subj", "/CN=redis.test", "-addext", "subjectAltName=DNS:redis.test"];
    await promisify(execFile)("openssl", [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" "),
      ...name,
      "-keyout",
      key,
      "-out",
      cert,
    ]);
    const port = String(await freePort());
    const server = await RedisServer.start([
      "--tls-port",
      port,
      "--tls-key-file",
      key,
      "--tls-cert-file",
      cert,
      "--tls-ca-cert-file",
      cert,
    ]);
    onTestFinished(() => server.remove());
    const ca = await readFile(cert, "utf8");
    const tls = { ca, cert: ca, key: await readFile(key, "utf8"), servername: "redis.test" };
    const open = (trusted: RedisOptions["tls"]): RedisKeyValue => {
      const store = new RedisKeyValue(`rediss://127.0.0.1:${port}`, trusted === undefined ? {} : { tls: trusted });
      onTestFinished(() => store.close());
      return store;
    };

    await open(tls).set("a", "1");

    expect(await open(tls).get("a")).toBe("1");
    await expect(open({ cert: tls.cert, key: tls.key }).get("a")).rejects.toThrow("does not respond");
    await expect(open({ ...tls, servername: "other.test" }).get("a")).rejects.toThrow("does not respond");
    expect(() => redisStores(SHARED_URL, { tls: { pfx: "hunter2" } as object })).toThrow(
      "redisStores.tls must be an object with ca, cert, key or servername",
    );
  });

  it("has the user and the password of an ACL", async () => {
    const server = await RedisServer.start([
      "--user",
      "shop",
      "on",
      ">hunter2",
      "~*",
      "&*",
      "+@all",
      "--user",
      "default",
      "off",
    ]);
    onTestFinished(() => server.remove());
    const right = stores(server.url.replace("redis://", "redis://shop:hunter2@"));
    const wrong = stores(server.url.replace("redis://", "redis://shop:wrong@"));

    await right.durable.set("a", "1");

    expect(await right.durable.get("a")).toBe("1");
    await expect(wrong.durable.get("a")).rejects.toThrow("Redis does not respond (durable)");
  });
});
