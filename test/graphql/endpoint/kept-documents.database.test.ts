import { createHash } from "node:crypto";
import { type KeyValueStore, memoryStores, PorticoApp, type Stores } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { redisStores } from "portico/redis";
import { migrate, openDatabase, sqlStores } from "portico/sql";
import { logCatcher, manualClock, type TestClient, testClient } from "portico/testing";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { newPrefix, SHARED_URL } from "../../../lab/servers/redis-server.ts";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { removeKeys } from "../../redis/remove-keys.ts";

const prefix = newPrefix();
afterAll(() => removeKeys(prefix));

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const shelfOf = (text: string): number => Number.parseInt(hashOf(text).slice(0, 4), 16) % 128;

/** Documents that share one entry of the store, each with so many bytes more. */
function neighbours(count: number, bytes = 0): readonly string[] {
  const found: string[] = [];
  for (let n = 0; found.length < count; n++) {
    const text = `{ hello } #${n} ${"x".repeat(bytes)}`;
    if (shelfOf(text) === 7) found.push(text);
  }
  return found;
}

const places: readonly (readonly [string, () => Promise<Stores>])[] = [
  ["memory", async () => memoryStores()],
  [
    "SQLite",
    async () => {
      const database = openDatabase("sqlite::memory:");
      await migrate(database, "up");
      onTestFinished(() => database.destroy());
      return sqlStores(database);
    },
  ],
  ["Redis", async () => redisStores(SHARED_URL, { prefix })],
];

interface Served {
  readonly app: PorticoApp;
  readonly client: TestClient;
  /** Sends a document with its hash, from one of many addresses. */
  readonly register: (query: string, from?: string) => Promise<number>;
  readonly isKept: (query: string) => Promise<boolean>;
}

function serve(stores: Stores, options: ConstructorParameters<typeof PorticoApp>[0] = {}, keepSeconds = 60): Served {
  const app = new PorticoApp({ logger: false, stores, trustedProxies: ["loopback"], ...options });
  onTestFinished(() => app.close());
  app.use(new SessionMiddleware({ secret: "the secret of the kept documents, 0123456789" }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")));
  const hello = schema({ query: { hello: field(t.string)(() => "world") } });
  new Graph(hello, { documents: { automatic: true, keepSeconds } }).mount(app);
  const client = testClient(app);
  const extensionsFor = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(query) } });
  return {
    app,
    client,
    async register(query, from = "203.0.113.1") {
      const body = { query, extensions: extensionsFor(query) };
      return (await client.post("/graphql", { body, headers: { "x-forwarded-for": from } })).status;
    },
    async isKept(query) {
      return (await client.post("/graphql", { body: { extensions: extensionsFor(query) } })).status === 200;
    },
  };
}

async function keptAmong(isKept: Served["isKept"], documents: readonly string[]): Promise<readonly boolean[]> {
  const kept: boolean[] = [];
  for (const query of documents) kept.push(await isKept(query));
  return kept;
}

describe.each(places)("documents that clients registered, in %s", (_name, open) => {
  it("are at most eight on each of 128 entries: the newest replaces the oldest", async () => {
    const stores = await open();
    const { register, isKept } = serve(stores);
    const documents = neighbours(10);

    for (const query of documents) expect(await register(query)).toBe(200);

    expect(await keptAmong(isKept, documents)).toEqual([false, false, ...Array.from({ length: 8 }, () => true)]);
  });

  it("have a limit of bytes on each entry, which leaves room for three of the largest", async () => {
    const stores = await open();
    const { register, isKept } = serve(stores);
    const documents = neighbours(4, 16_000);

    for (const query of documents) await register(query);

    expect(await keptAmong(isKept, documents)).toEqual([false, true, true, true]);
  });

  it("are all kept when they are registered at once", async () => {
    const { register, isKept } = serve(await open());
    const documents = neighbours(3);

    await Promise.all(documents.map((query) => register(query)));

    expect(await keptAmong(isKept, documents)).toEqual([true, true, true]);
  });
});

it("take no more than 128 entries and 6 MiB of a store, whatever clients send", async () => {
  const written = new Map<string, number>();
  const durable = new MemoryKeyValue();
  const { register } = serve({ ...memoryStores(), durable: recording(durable, written) });

  for (let n = 0; n < 400; n++) await register(`{ hello } #${n} ${"x".repeat(16_000)}`, `10.0.${n % 8}.1`);

  expect(durable.size).toBeLessThanOrEqual(128);
  expect(written.size).toBeGreaterThan(100);
  expect(Math.max(...written.values())).toBeLessThanOrEqual(49_152);
});

it("leave room for sessions in a store that holds few entries", async () => {
  const { register, client } = serve({ ...memoryStores(), durable: new MemoryKeyValue({ maxEntries: 200 }) });

  for (let n = 0; n < 300; n++) await register(`{ hello } #${n}`, `10.0.${n % 8}.1`);

  expect((await client.post("/login")).status).toBeLessThan(300);
});

it("expire separately, and are not written again on each use", async () => {
  const clock = manualClock();
  const written = new Map<string, number>();
  let writes = 0;
  const durable = recording(new MemoryKeyValue({ clock }), written, () => writes++);
  const { register, isKept } = serve({ ...memoryStores(), durable }, { clock });
  const [first = "", second = ""] = neighbours(2);

  await register(first);
  await register(first);
  clock.advance(40_000);
  await register(second);
  clock.advance(21_000);

  expect(writes).toBe(2);
  expect([await isKept(first), await isKept(second)]).toEqual([false, true]);
});

it("run even if a failing store does not keep them, which is logged once", async () => {
  const log = logCatcher();
  const durable = new MemoryKeyValue();
  const failing: KeyValueStore = Object.assign(Object.create(durable) as KeyValueStore, {
    get: () => Promise.reject(new Error("away")),
    compareAndSet: () => Promise.reject(new Error("away")),
  });
  const { register, client } = serve({ ...memoryStores(), durable: failing }, { logger: log });

  const statuses = [];
  for (let n = 0; n < 20; n++) statuses.push(await register(`{ hello } #${n}`));
  const extensions = { persistedQuery: { version: 1, sha256Hash: hashOf("{ hello } #1") } };
  const unknown = await client.post("/graphql", { body: { extensions } });

  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(unknown.json()).toMatchObject({ errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_FOUND" } }] });
  expect(log.lines.filter(({ msg }) => msg.startsWith("Graph.documents: the store failed"))).toHaveLength(1);
});

/** A store that notes the keys that are written, and the bytes of each. */
function recording(store: KeyValueStore, written: Map<string, number>, wrote: () => void = () => {}): KeyValueStore {
  return {
    get: (key) => store.get(key),
    set: (key, value, ttlMs) => store.set(key, value, ttlMs),
    setIfAbsent: (key, value, ttlMs) => store.setIfAbsent(key, value, ttlMs),
    delete: (key) => store.delete(key),
    compareAndSet(key, expected, value, ttlMs) {
      written.set(key, Buffer.byteLength(value));
      wrote();
      return store.compareAndSet(key, expected, value, ttlMs);
    },
  };
}
