import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ConfigurationError, memoryStores, PorticoApp, PubSubGap, topic } from "portico";
import { type NatsOptions, NatsPubSub } from "portico/nats";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { NatsServer, SHARED_NATS } from "../../lab/servers/nats-server.ts";
import { newPrefix } from "../../lab/servers/redis-server.ts";
import { pubSubContract } from "../stores/contract.ts";

const news = topic<number>("news");

pubSubContract("NatsPubSub", () => {
  const bus = new NatsPubSub(SHARED_NATS, { prefix: newPrefix(), maxQueued: 10 });
  return {
    bus,
    lose: async (lost) => {
      for (let n = 0; n < 20; n++) await bus.publish(lost, n);
    },
    close: () => bus.close(),
  };
});

function open(url: string, options: NatsOptions = {}): NatsPubSub {
  const bus = new NatsPubSub(url, options);
  onTestFinished(() => bus.close());
  return bus;
}

async function ownServer(options?: readonly string[]): Promise<NatsServer> {
  const server = await NatsServer.start(options);
  onTestFinished(() => server.kill());
  return server;
}

/** Subscribes, and returns what arrives and how it ends. */
async function listen(bus: NatsPubSub): Promise<{ readonly heard: number[]; readonly ended: Promise<unknown> }> {
  const heard: number[] = [];
  const ended = (async () => {
    for await (const n of bus.subscribe(news)) heard.push(n);
  })().catch((error: unknown) => error);
  await bus.settled();
  return { heard, ended };
}

describe("NatsPubSub", () => {
  it("delivers between two processes that share a server, and not to another prefix", async () => {
    const prefix = newPrefix();
    const [one, two, other] = [open(SHARED_NATS, { prefix }), open(SHARED_NATS, { prefix }), open(SHARED_NATS)];
    const heard = await listen(two);
    const unheard = await listen(other);

    for (const n of [1, 2, 3]) await one.publish(news, n);

    await expect.poll(() => heard.heard).toEqual([1, 2, 3]);
    expect(unheard.heard).toEqual([]);
  });

  it.each(["a.b", "*", ">", "a..b", ".a", "a.", "a b", "é\u{1f600}", "\ud800", "x".repeat(3_000), "%2A"])(
    "carries the topic %j, and only that one",
    async (name) => {
      const bus = open(SHARED_NATS, { prefix: newPrefix() });
      const heard: number[] = [];
      const read = (async () => {
        for await (const n of bus.subscribe(topic<number>(name))) heard.push(n);
      })();
      await bus.settled();

      await bus.publish(topic<number>("other"), 1);
      await bus.publish(topic<number>(name), 2);

      await expect.poll(() => heard).toEqual([2]);
      await bus.close();
      await read;
    },
  );

  it.each<[string, (server: NatsServer) => Promise<void>, (server: NatsServer) => Promise<void>]>([
    ["is killed", (server) => server.kill(), (server) => server.start()],
    ["stops responding", async (server) => server.freeze(), async (server) => server.thaw()],
  ])("rejects while the server %s, then tells subscribers of the gap and works again", async (_, stop, resume) => {
    const server = await ownServer();
    const log = logCatcher();
    const bus = open(server.url, { timeoutSeconds: 0.3 });
    const app = new PorticoApp({ stores: { ...memoryStores(), bus }, logger: log });
    await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const { heard, ended } = await listen(bus);
    await bus.publish(news, 1);
    await expect.poll(() => heard).toEqual([1]);

    await stop(server);

    await expect
      .poll(() => bus.publish(news, 2).catch((error: unknown) => String(error)))
      .toMatch("NATS does not respond (bus)");
    expect(bus.isConnected).toBe(false);
    await resume(server);
    expect(await ended).toBeInstanceOf(PubSubGap);
    const again = await listen(bus);
    await bus.publish(news, 3);
    await expect.poll(() => again.heard).toEqual([3]);
    expect(log.lines.filter(({ msg }) => msg.startsWith("nats: connection lost"))).toHaveLength(1);
  });

  it("leaves no connection to a server that does not respond", async () => {
    const openSockets = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === "TCPSocketWrap").length;
    const server = await ownServer();
    const before = openSockets();
    const attempts: unknown[] = [];
    const listener = (message: unknown): void => void attempts.push(message);
    const bus = open(server.url, { timeoutSeconds: 0.2 });
    await bus.publish(news, 1);
    subscribe("net.client.socket", listener);
    onTestFinished(() => void unsubscribe("net.client.socket", listener));

    server.freeze();
    await expect.poll(() => bus.publish(news, 2).catch(String)).toMatch("NATS does not respond (bus)");
    await expect.poll(() => attempts.length).toBeGreaterThan(2);
    const during = openSockets();
    await bus.close();
    await expect.poll(openSockets).toBe(before);

    // The attempt in progress, and the one that has just failed.
    expect(during).toBeLessThanOrEqual(before + 2);
  });

  it("rejects an event that is larger than the server accepts, and stays connected", async () => {
    const bus = open(SHARED_NATS);
    const texts = topic<string>("texts");

    await expect(bus.publish(texts, "x".repeat(2_000_000))).rejects.toThrow(/more than the \d+ bytes of NATS/);

    expect(bus.isConnected).toBe(true);
  });

  it("authenticates with the user in the URL or a token", async () => {
    const withUser = await ownServer(["--user", "shop", "--pass", "hunter2"]);
    const withToken = await ownServer(["--auth", "hunter2"]);

    await open(withUser.url.replace("//", "//shop:hunter2@")).publish(news, 1);
    await open(withToken.url.replace("//", "//hunter2@")).publish(news, 1);
    await open(withToken.url, { connection: { token: "hunter2" } }).publish(news, 1);

    await expect(open(withUser.url.replace("//", "//shop:wrong@")).publish(news, 1)).rejects.toThrow(
      "does not respond",
    );
  });

  it("tells the subscriber if the server does not allow the subject", async () => {
    const folder = await ownServer(["--config", new URL("fixtures/no-subscribe.conf", import.meta.url).pathname]);
    const bus = open(folder.url);

    expect(await (await listen(bus)).ended).toBeInstanceOf(PubSubGap);
    await bus.publish(news, 1);
  });

  it("stops startup without a server, and is part of /readyz", async () => {
    const server = await ownServer();
    const app = new PorticoApp({
      stores: { ...memoryStores(), bus: open(server.url, { timeoutSeconds: 0.3 }) },
      logger: false,
    });
    const client = testClient(app);
    expect((await client.get("/readyz")).status).toBe(200);
    await server.kill();
    await expect.poll(async () => (await client.get("/readyz")).status).toBe(503);

    const dead = new PorticoApp({ stores: { ...memoryStores(), bus: open(server.url) }, logger: false });

    await expect(dead.listen({ port: 0 })).rejects.toThrow(
      `cannot start the bus role: no connection to NATS at 127.0.0.1:${server.port}`,
    );
  });

  it.each<[unknown, object, string]>([
    ["http://127.0.0.1", {}, "NatsPubSub.urls must be a URL"],
    ["nats://:hunter2@", {}, "NatsPubSub.urls must be a URL"],
    [[], {}, "NatsPubSub.urls must be a URL"],
    [[SHARED_NATS, 7], {}, "NatsPubSub.urls must be a URL"],
    [SHARED_NATS, { prefix: "a.*" }, "NatsPubSub.prefix must be letters, digits, - and _"],
    [SHARED_NATS, { connection: { pas: "hunter2" } }, "NatsPubSub.connection must be an object with"],
    [SHARED_NATS, { maxQueue: 1 }, 'Did you mean "maxQueued"?'],
  ])("rejects %j with %j, without repeating a secret", (urls, options, sentence) => {
    const make = (): unknown => new NatsPubSub(urls as string, options);

    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(sentence);
    expect(make).not.toThrow(/hunter2/);
  });
});
