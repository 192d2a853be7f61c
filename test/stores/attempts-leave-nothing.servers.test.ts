import { createServer, type Server } from "node:net";
import { topic } from "portico";
import { NatsPubSub } from "portico/nats";
import { RedisCounter, RedisKeyValue, RedisPubSub } from "portico/redis";
import { openDatabase, sqlStores } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const news = topic<number>("news");
const timeoutSeconds = 0.2;

/** Keeps trying to connect until `close`. */
interface Tries {
  call(): Promise<unknown>;
  close(): Promise<unknown>;
}

const tries: readonly (readonly [name: string, open: (host: string) => Tries])[] = [
  [
    "RedisKeyValue",
    (host) => calling(new RedisKeyValue(`redis://${host}`, { timeoutSeconds }), (store) => store.get("a")),
  ],
  [
    "RedisCounter",
    (host) => calling(new RedisCounter(`redis://${host}`, { timeoutSeconds }), (store) => store.increment("a", 1_000)),
  ],
  [
    "RedisPubSub",
    (host) => calling(new RedisPubSub(`redis://${host}`, { timeoutSeconds }), (bus) => bus.publish(news, 1)),
  ],
  [
    "RedisKeyValue on a cluster",
    (host) =>
      calling(new RedisKeyValue({ cluster: [`redis://${host}`] }, { timeoutSeconds }), (store) => store.get("a")),
  ],
  [
    "RedisKeyValue behind Sentinel",
    (host) =>
      calling(
        new RedisKeyValue({ sentinels: [`redis://${host}`], primary: "redis://main" }, { timeoutSeconds }),
        (store) => store.get("a"),
      ),
  ],
  [
    "NatsPubSub",
    (host) => calling(new NatsPubSub(`nats://${host}`, { timeoutSeconds }), (bus) => bus.publish(news, 1)),
  ],
  [
    "a database",
    (host) => {
      const database = openDatabase(`postgres://shop@${host}/shop`, { timeoutSeconds });
      return { call: () => database.ping(), close: () => database.destroy() };
    },
  ],
  [
    "the bus of a database",
    (host) => {
      const database = openDatabase(`postgres://shop@${host}/shop`, { timeoutSeconds });
      const { bus } = sqlStores(database);
      const events = bus.subscribe(news);
      events[Symbol.asyncIterator]()
        .next()
        .catch(() => {});
      return {
        call: () => bus.publish(news, 1),
        close: async () => {
          await bus.close?.();
          await database.destroy();
        },
      };
    },
  ],
];

function calling<T extends { close(): Promise<unknown> }>(store: T, call: (store: T) => Promise<unknown>): Tries {
  return { call: () => call(store), close: () => store.close() };
}

describe("a server that accepts connections and never responds", () => {
  let server: Server;
  let open = 0;
  let accepted = 0;
  beforeAll(async () => {
    server = createServer((socket) => {
      accepted++;
      open++;
      socket.on("error", () => {}).resume();
      socket.on("close", () => open--);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => void server.close());

  it.each(tries)("is left with no connection by %s", async (_, make) => {
    const { port } = server.address() as { readonly port: number };
    const [before, present] = [accepted, open];
    const trying = make(`127.0.0.1:${port}`);

    await expect
      .poll(async () => (await trying.call().catch(() => {}), accepted - before), { timeout: 20_000 })
      .toBeGreaterThan(3);
    const during = open;
    await trying.close();

    // The attempts in progress, and those that have just failed.
    expect(during - present).toBeLessThanOrEqual(4);
    await expect.poll(() => open).toBe(present);
  });
});
