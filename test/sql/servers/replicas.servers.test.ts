import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { resolve } from "node:path";
import { CamelCasePlugin, sql } from "kysely";
import { isEqual, type KeyValueStore, memoryStores, rateLimit, rule, topic } from "portico";
import { SimpleUser } from "portico/auth";
import { CursorPagination } from "portico/pagination";
import { type Database, migrate, openDatabase, sqlStores, tableHandler } from "portico/sql";
import { logCatcher, testClient, watchStatements } from "portico/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type OwnPostgres, ownPostgres } from "../../../lab/servers/own-postgres.ts";
import { runPortico } from "../../cli/run-portico.ts";
import {
  booksOf,
  caughtUp,
  onServer,
  pauseReplay,
  read,
  readUntil,
  resumeReplay,
  shopOn,
  signIn,
  type Tables,
  titles,
} from "./replicated-shop.ts";

let primary: OwnPostgres;
let replica: OwnPostgres;
let database: Database<Tables>;
beforeAll(async () => {
  primary = await ownPostgres();
  await onServer(
    primary,
    "create table books (id serial primary key, title text not null, shelf int not null default 1)",
  );
  replica = await ownPostgres([], primary);
});
afterAll(async () => {
  await replica?.remove();
  await primary?.remove();
});
beforeEach(async () => {
  await onServer(primary, "truncate books");
  await onServer(primary, "insert into books (title) values ('Emma')");
  await caughtUp(replica, primary);
  database = openBoth();
});
afterEach(async () => {
  await resumeReplay(replica);
  await database.destroy();
});

/** By default, a paused replica stays in use, however long the test takes. */
function openBoth(maxLagSeconds = 600): Database<Tables> {
  return openDatabase<Tables>({ primary: primary.url, replicas: [replica.url] }, { maxLagSeconds });
}

describe("a caller reads its own writes", () => {
  it.each(["session", "token", "key"] as const)("with a %s, in this process and in another", async (kind) => {
    const stores = memoryStores();
    const here = testClient(shopOn(database, { stores }));
    const elsewhere = openBoth();
    onTestFinished(() => elsewhere.destroy());
    const there = testClient(shopOn(elsewhere, { stores }));
    const ann = (await signIn(here, "ann"))[kind];
    const bob = (await signIn(here, "bob"))[kind];
    await readUntil("replica", here, ann);
    await readUntil("replica", there, ann);
    await pauseReplay(replica);

    await here.post("/books/Persuasion", { headers: ann });

    expect(await titles(here, ann)).toEqual(["Emma", "Persuasion"]);
    expect(await titles(there, ann)).toEqual(["Emma", "Persuasion"]);
    expect((await readUntil("replica", there, bob)).items).toHaveLength(1);
    await resumeReplay(replica);
    expect((await readUntil("replica", there, ann)).items).toHaveLength(2);
  });

  it("with another credential of the same user", async () => {
    const client = testClient(shopOn(database));
    const ann = await signIn(client, "ann");
    await readUntil("replica", client, ann.key);
    await pauseReplay(replica);

    await client.post("/books/Persuasion", { headers: ann.session });

    expect(await titles(client, ann.key)).toEqual(["Emma", "Persuasion"]);
  });

  it("after a transaction, and by its address if it is anonymous", async () => {
    const client = testClient(shopOn(database));
    await readUntil("replica", client);
    await pauseReplay(replica);

    await client.post("/in-transaction/Persuasion");

    expect(await titles(client)).toEqual(["Emma", "Persuasion"]);
  });

  it("after it has signed in, if it wrote as an anonymous caller before", async () => {
    const client = testClient(shopOn(database));
    await readUntil("replica", client);
    await pauseReplay(replica);

    await client.post("/books/Persuasion");
    const { session } = await signIn(client, "ann");

    expect(await titles(client, session)).toEqual(["Emma", "Persuasion"]);
  });

  it.each<[string, (title: string) => Promise<unknown>]>([
    [
      "streams the rows that it writes, and stops reading them",
      async (title) => {
        const books = [{ title }, { title }] as never;
        const rows = database.insertInto("books").values(books).returning("id").stream(1);
        await rows.next();
        await rows.return?.();
      },
    ],
    [
      "writes with the second statement of a text",
      (title) => sql.raw(`select 1; insert into books (title) values ('${title}')`).execute(database),
    ],
    [
      "analyses a statement that writes",
      (title) => sql.raw(`explain (analyze)\ninsert into books (title) values ('${title}')`).execute(database),
    ],
  ])("if a handler %s", async (_, write) => {
    const app = shopOn(database);
    app.post("/written/:title", async ({ path }) => void (await write(path.title)));
    const client = testClient(app);
    await readUntil("replica", client);
    await pauseReplay(replica);

    await client.post("/written/Persuasion");

    expect(await titles(client)).toContain("Persuasion");
  });

  it.each([
    ["statement", "/books", "insert into"],
    ["commit", "/in-transaction", "commit"],
  ])("if the connection is lost before the response to a %s", async (_, path, text) => {
    const line = await movableLine(primary);
    onTestFinished(() => line.close());
    const shop = openDatabase<Tables>({ primary: line.url, replicas: [replica.url] }, { maxLagSeconds: 600 });
    onTestFinished(() => shop.destroy());
    const client = testClient(shopOn(shop));
    await client.post("/books/Persuasion");
    await readUntil("replica", client);
    await pauseReplay(replica);

    line.breakAfter(text);
    expect((await client.post(`${path}/Sanditon`)).status).toBe(503);

    expect(await titles(client)).toEqual(["Emma", "Persuasion", "Sanditon"]);
  });

  it("in the request that writes, and in the payload of a mutation", async () => {
    const client = testClient(shopOn(database));
    const { session: headers } = await signIn(client, "ann");
    await readUntil("replica", client);
    await pauseReplay(replica);

    const page = (await client.post("/read-after-write/Persuasion", { headers })).json();
    const { data } = await client.graphql(`mutation { add(title: "Sanditon") { ...Found } } ${FOUND}`);

    expect(page).toMatchObject({ items: [{ title: "Emma" }, { title: "Persuasion", isFromReplica: false }] });
    expect(data).toEqual({ add: foundOn("primary", ["Emma", "Persuasion", "Sanditon"]) });
  });

  it("if the position of an earlier write reaches the store late", async () => {
    const stores = memoryStores();
    const durable = new LateStore(stores.durable);
    const client = testClient(shopOn(database, { stores: { ...stores, durable } }));
    const { session: ann } = await signIn(client, "ann");
    const { session: bob } = await signIn(client, "bob");
    const late = durable.delayNextPosition();
    const first = client.post("/books/Persuasion", { headers: ann });
    await late.reached;
    await caughtUp(replica, primary);
    await pauseReplay(replica);
    await expect.poll(async () => (await readUntil("replica", client, bob)).items).toHaveLength(2);

    await client.post("/books/Sanditon", { headers: ann });
    late.release();
    await first;

    expect(await titles(client, ann)).toEqual(["Emma", "Persuasion", "Sanditon"]);
  });

  it("if the store fails, because then it reads the primary", async () => {
    const stores = memoryStores();
    const durable = new LateStore(stores.durable);
    const client = testClient(shopOn(database, { stores: { ...stores, durable } }));
    await readUntil("replica", client);

    durable.isDown = true;

    expect((await client.post("/books/Persuasion")).status).toBe(204);
    expect((await read(client)).items).toMatchObject([{ isFromReplica: false }, { title: "Persuasion" }]);
  });
});

/** A store that can delay the next write of a position, and that can fail. */
class LateStore implements KeyValueStore {
  isDown = false;
  readonly commands: string[] = [];
  readonly #store: KeyValueStore;
  #late: { readonly reached: PromiseWithResolvers<void>; readonly release: PromiseWithResolvers<void> } | null = null;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  delayNextPosition(): { readonly reached: Promise<void>; release(): void } {
    const late = { reached: Promise.withResolvers<void>(), release: Promise.withResolvers<void>() };
    this.#late = late;
    return { reached: late.reached.promise, release: late.release.resolve };
  }

  get(key: string): Promise<string | null> {
    return this.#run("get", key, () => this.#store.get(key));
  }
  set(...args: Parameters<KeyValueStore["set"]>): Promise<void> {
    return this.#run("set", args[0], () => this.#store.set(...args));
  }
  setIfAbsent(...args: Parameters<KeyValueStore["setIfAbsent"]>): Promise<boolean> {
    return this.#run("setIfAbsent", args[0], () => this.#store.setIfAbsent(...args));
  }
  compareAndSet(...args: Parameters<KeyValueStore["compareAndSet"]>): Promise<boolean> {
    return this.#run("compareAndSet", args[0], () => this.#store.compareAndSet(...args));
  }
  delete(key: string): Promise<boolean> {
    return this.#run("delete", key, () => this.#store.delete(key));
  }

  async #run<T>(command: string, key: string, work: () => Promise<T>): Promise<T> {
    if (!key.startsWith("write-position:")) return work();
    this.commands.push(command);
    if (this.isDown) throw new Error("the store is down");
    const late = this.#late;
    if (late !== null && command !== "get") {
      this.#late = null;
      late.reached.resolve();
      await late.release.promise;
    }
    return work();
  }
}

const FOUND = "fragment Found on Shelf { isLoadedFromReplica books { totalCount nodes { title isFromReplica } } }";

function foundOn(source: "replica" | "primary", found: readonly string[]): object {
  const isFromReplica = source === "replica";
  return {
    isLoadedFromReplica: isFromReplica,
    books: { totalCount: found.length, nodes: found.map((title) => ({ title, isFromReplica })) },
  };
}

describe("reads", () => {
  it("come from a replica for pages, nested pages, totals and loaders", async () => {
    const client = testClient(shopOn(database));
    const { session: headers } = await signIn(client, "bob");
    await readUntil("replica", client);
    await pauseReplay(replica);
    await client.post("/books/Persuasion", { headers });

    await expect
      .poll(async () => (await client.graphql(`{ shelf { ...Found } } ${FOUND}`)).data)
      .toEqual({ shelf: foundOn("replica", ["Emma"]) });

    for (const path of ["/counted?page_size=1", "/counted-once?page_size=1"])
      await expect.poll(async () => (await read(client, {}, path)).pagination.total_items).toBe(1);
  });

  it("come from the primary for the events of a subscription", async () => {
    const client = testClient(shopOn(database));
    const { session: headers } = await signIn(client, "bob");
    await readUntil("replica", client);
    await pauseReplay(replica);
    const events = client.subscribe(`subscription { added { ...Found } } ${FOUND}`);
    onTestFinished(async () => void (await events.return()));
    await events.ready();

    await client.graphql('mutation { add(title: "Persuasion") { id } }', {}, { headers });

    expect((await events.next()).value).toMatchObject({ data: { added: foundOn("primary", ["Emma", "Persuasion"]) } });
    await expect
      .poll(async () => (await client.graphql(`{ shelf { ...Found } } ${FOUND}`)).data)
      .toEqual({ shelf: foundOn("replica", ["Emma"]) });
  });

  it("come from the primary in a handler that has subscribed to events, and outside a request", async () => {
    const app = shopOn(database);
    app.get("/follow", async ({ ctx, response }) => {
      ctx.pubsub.subscribe(topic<string>("anything"));
      return response.json({ items: await booksOf(database).execute() });
    });
    const client = testClient(app);
    await readUntil("replica", client);

    expect((await read(client, {}, "/follow")).items).toMatchObject([{ isFromReplica: false }]);
    expect(await booksOf(database).execute()).toMatchObject([{ isFromReplica: false }]);
  });

  it("cost one command of the store for each request, and a write two", async () => {
    const stores = memoryStores();
    const durable = new LateStore(stores.durable);
    const client = testClient(shopOn(database, { stores: { ...stores, durable } }));
    using watch = watchStatements(database);

    await expect
      .poll(async () => {
        watch.reset();
        durable.commands.length = 0;
        const { items } = await read(client, {}, "/twice");
        return [items[0]?.isFromReplica, watch.countOf("GET /twice"), ...durable.commands];
      })
      .toEqual([true, 2, "get"]);

    durable.commands.length = 0;
    await client.post("/books/Persuasion");
    expect(durable.commands).toEqual(["get", "compareAndSet"]);
    expect(watch.countOf("POST /books/:title")).toBe(1);
  });

  it("are not affected by the writes of sessions and rate limits in the same database", async () => {
    await migrate(database as Database<any>, "up");
    onTestFinished(async () => {
      const again = openDatabase<any>(primary.url);
      await migrate(again, "down all");
      await again.destroy();
    });
    const app = shopOn(database, { stores: sqlStores(database) });
    app.use(rateLimit({ perMinute: 1_000 }));
    const client = testClient(app);
    const { session: ann } = await signIn(client, "ann");
    await readUntil("replica", client, ann);
    await pauseReplay(replica);

    expect((await readUntil("replica", client, ann)).items).toHaveLength(1);
    await client.post("/books/Persuasion", { headers: ann });
    expect((await read(client, ann)).items).toHaveLength(2);
  });

  it("fall back to the primary if the statement writes, or the replica does not have the table yet", async () => {
    const app = shopOn(database);
    app.get("/locked", async () => ({ items: await booksOf(database).forUpdate().execute() }));
    app.get("/new", async () => ({
      items: await (database as Database<any>).replica().selectFrom("new_books").selectAll().execute(),
    }));
    const client = testClient(app);
    await readUntil("replica", client);
    await pauseReplay(replica);
    await onServer(primary, "create table new_books as select false as from_replica");
    onTestFinished(async () => void (await onServer(primary, "drop table new_books")));

    expect((await read(client, {}, "/locked")).items).toMatchObject([{ isFromReplica: false }]);
    expect((await read(client, {}, "/new")).items).toEqual([{ from_replica: false }]);
  });

  it("use the columns of the primary, which has the last migration", async () => {
    const app = shopOn(database);
    const byIsbn = new CursorPagination({ order: [["isbn", "asc"]] });
    app.get("/by-isbn", ({ response }) =>
      response.apaginate(tableHandler((database as Database<any>).replica().selectFrom("books").selectAll()), {
        strategy: byIsbn,
      }),
    );
    const client = testClient(app);
    await readUntil("replica", client);
    await pauseReplay(replica);
    await onServer(primary, "alter table books add column isbn text");
    onTestFinished(async () => void (await onServer(primary, "alter table books drop column isbn")));

    expect((await read(client, {}, "/by-isbn")).items).toMatchObject([{ title: "Emma", isbn: null }]);
  });

  it("are streamed from a replica, and have the plugins of the database", async () => {
    const plugged = database.withPlugin(new CamelCasePlugin()) as unknown as Database<any>;
    const app = shopOn(database);
    app.get("/streamed", async () => {
      const items: unknown[] = [];
      const query = plugged.replica().selectFrom("books").select(sql`pg_is_in_recovery()`.as("is_from_replica"));
      for await (const row of query.stream(10)) items.push(row);
      return { items };
    });

    expect((await readUntil("replica", testClient(app), {}, "/streamed")).items).toHaveLength(1);
  });
});

describe("a guarded database", () => {
  it("applies its rules to reads from a replica, and falls back to the primary with them", async () => {
    const short = rule<{ title: string }>({
      name: "book.short",
      allows: () => true,
      where: (user) => isEqual("title", user.identity),
    });
    const guarded = openDatabase<Tables>(
      { primary: primary.url, replicas: [replica.url] },
      { maxLagSeconds: 600, guard: { books: { read: short, write: "closed" } } },
    );
    onTestFinished(() => guarded.destroy());
    await onServer(primary, "insert into books (title) values ('Persuasion')");
    await caughtUp(replica, primary);
    const titlesOf = async (database: ReturnType<Database<Tables>["replica"]>) =>
      (await database.selectFrom("books").select("title").orderBy("title").execute()).map(({ title }) => title);

    expect(await titlesOf(guarded.as(new SimpleUser("Emma")).replica())).toEqual(["Emma"]);
    expect(await titlesOf(guarded.as(new SimpleUser("Persuasion")).replica())).toEqual(["Persuasion"]);
    expect(await titlesOf(guarded.asSystem("a test").replica())).toEqual(["Emma", "Persuasion"]);
    await expect(titlesOf(guarded.replica())).rejects.toMatchObject({ code: "CALLER_REQUIRED" });
    const list = tableHandler(guarded.as(new SimpleUser("Emma")).replica().selectFrom("books").selectAll());
    expect(await list.getTotalItems()).toBe(1);
    const trx = await guarded.as(new SimpleUser("Emma")).begin();
    expect(await titlesOf(trx.replica())).toEqual(["Emma"]);
    await trx.end("success");
  });
});

describe("a replica", () => {
  it("that stops is left out, and used again when it is back", async () => {
    const logger = logCatcher();
    const client = testClient(shopOn(database, { logger }));
    await readUntil("replica", client);

    await replica.kill();
    const { items } = await read(client);
    expect(items).toMatchObject([{ title: "Emma", isFromReplica: false }]);

    await replica.start();
    await readUntil("replica", client);
    await expect.poll(() => logger.text).toMatch(/a replica is in use.*a replica was left out.*a replica is in use/s);
  });

  it("that does not respond is left out, and its statements run on the primary", async () => {
    const client = testClient(shopOn(database));
    await readUntil("replica", client);

    replica.freeze();
    onTestFinished(() => replica.thaw());

    expect((await read(client)).items).toMatchObject([{ title: "Emma", isFromReplica: false }]);
    replica.thaw();
    await readUntil("replica", client);
  });

  it("that is too far behind is left out until it has caught up", async () => {
    const impatient = openBoth(1);
    onTestFinished(() => impatient.destroy());
    const client = testClient(shopOn(impatient));
    const { session: ann } = await signIn(client, "ann");
    await readUntil("replica", client);
    await pauseReplay(replica);
    await client.post("/books/Persuasion", { headers: ann });

    expect((await readUntil("primary", client)).items).toHaveLength(2);

    await resumeReplay(replica);
    expect((await readUntil("replica", client)).items).toHaveLength(2);
  });

  it("that belongs to another primary is never used", async () => {
    const other = openDatabase<Tables>({ primary: SHARED, replicas: [replica.url] });
    onTestFinished(() => other.destroy());
    const logger = logCatcher();
    const app = shopOn(other, { logger });
    app.get("/server", async () => ({
      items: await other.replica().selectNoFrom(sql`pg_is_in_recovery()`.as("isFromReplica")).execute(),
    }));
    const client = testClient(app);

    await expect
      .poll(async () => {
        expect((await read(client, {}, "/server")).items).toEqual([{ isFromReplica: false }]);
        return logger.text;
      })
      .toContain("it belongs to another primary");
    expect((await read(client, {}, "/server")).items).toEqual([{ isFromReplica: false }]);
  });
});

const SHARED = "postgres://root@127.0.0.1:5432/test";

it("is examined by portico doctor, which says why it can't be used", async () => {
  const doctor = async (primaryUrl: string, replicas: readonly string[]): Promise<readonly string[]> => {
    const config = resolve(import.meta.dirname, "../../cli/fixtures/replicas.config.ts");
    const SERVERS = JSON.stringify({ primary: primaryUrl, replicas });
    const { out } = await runPortico(["doctor", "--json", "--config", config], { env: { SERVERS } });
    const { checks } = JSON.parse(out) as { readonly checks: readonly Record<"level" | "check" | "message", string>[] };
    return checks.filter(({ check }) => check === "replicas").map(({ level, message }) => `${level}: ${message}`);
  };
  const [host, closed] = [new URL(replica.url).host, "postgres://root@127.0.0.1:1/test"];
  const left = "can't be used, so the primary serves its reads";

  expect(await doctor(primary.url, [replica.url, closed])).toEqual([
    `ok: ${host} responds and is not too far behind`,
    expect.stringMatching(`^warning: 127.0.0.1:1 ${left}: .*ECONNREFUSED`),
  ]);
  expect(await doctor(SHARED, [replica.url, SHARED])).toEqual([
    `warning: ${host} ${left}: it belongs to another primary`,
    `warning: 127.0.0.1:5432 ${left}: it is not a replica`,
  ]);
  expect(await doctor(primary.url, [])).toEqual([]);
});

it("survives a failover: the promoted replica is the primary, and the other one follows it", async () => {
  const own = await ownPostgres();
  onTestFinished(() => own.remove());
  await onServer(own, "create table books (id serial primary key, title text not null, shelf int not null default 1)");
  const replicas = [await ownPostgres([], own), await ownPostgres([], own)] as const;
  onTestFinished(async () => void (await Promise.all(replicas.map((server) => server.remove()))));
  const line = await movableLine(own);
  onTestFinished(() => line.close());
  const urls = replicas.map(({ url }) => url);
  const shop = openDatabase<Tables>({ primary: line.url, replicas: urls }, { maxLagSeconds: 600 });
  onTestFinished(() => shop.destroy());
  const client = testClient(shopOn(shop));
  await client.post("/books/Emma");
  await readUntil("replica", client);
  for (const server of replicas) await caughtUp(server, own);

  await own.kill();
  const [first, second] = [await receivedBy(replicas[0]), await receivedBy(replicas[1])];
  const [heir, other] = first >= second ? replicas : [replicas[1], replicas[0]];
  await onServer(heir, "select pg_promote()");
  line.moveTo(heir);
  const { hostname, port } = new URL(heir.url);
  await onServer(other, `alter system set primary_conninfo to 'host=${hostname} port=${port} user=root'`);
  await onServer(other, "select pg_reload_conf()");

  await expect.poll(async () => (await client.post("/books/Persuasion")).status).toBe(204);
  expect((await titles(client)).slice(0, 2)).toEqual(["Emma", "Persuasion"]);
  expect((await readUntil("replica", client)).items[1]).toMatchObject({ title: "Persuasion" });
});

/** Only a replica that has received no less than the others can be their primary. */
async function receivedBy(server: OwnPostgres): Promise<bigint> {
  const [row] = await onServer(server, "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::text as bytes");
  return BigInt(String(row?.["bytes"]));
}

/** A proxy, as an address that follows the primary. */
interface MovableLine {
  readonly url: string;
  moveTo(server: OwnPostgres): void;
  /** The next statement with this text reaches the server, but its response is lost. */
  breakAfter(text: string): void;
  close(): Promise<void>;
}

async function movableLine(first: OwnPostgres): Promise<MovableLine> {
  let target = new URL(first.url);
  let breaking: string | null = null;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
    client.on("data", (sent: Buffer) => {
      if (breaking === null || !sent.includes(breaking)) return;
      breaking = null;
      upstream.unpipe(client);
      // The server runs what it has received, also if the connection is closed meanwhile.
      upstream.once("data", () => client.destroy());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(first.url);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    moveTo(other) {
      target = new URL(other.url);
      for (const socket of open) socket.destroy();
    },
    breakAfter(text) {
      breaking = text;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

describe("openDatabase", () => {
  it("has no replicas to read from without the option, and in a transaction", async () => {
    const sqlite = openDatabase({ primary: "sqlite::memory:", replicas: [] });
    onTestFinished(() => sqlite.destroy());

    expect(sqlite.replica()).toBe(sqlite);
    const trx = await database.begin();
    expect(trx.replica()).toBe(trx);
    await trx.end("success");
  });

  it.each([
    [
      { primary: "sqlite::memory:", replicas: ["postgres://shop@db/shop"] },
      {},
      "openDatabase.replicas is an option for PostgreSQL",
    ],
    [
      { primary: "postgres://db/shop", replicas: ["mysql://shop:secret@db/shop"] },
      {},
      "openDatabase.replicas must be a list of URLs such as postgres://user@host/name, received a string of 27 bytes at [0]",
    ],
    [{ primary: 1, replicas: [] }, {}, "openDatabase.url must be"],
    [
      { primary: "postgres://db/shop", replica: [] },
      {},
      'openDatabase: unknown option "replica". Did you mean "replicas"?',
    ],
    ["postgres://db/shop", { maxLagSeconds: 1 }, "openDatabase.maxLagSeconds is an option for replicas"],
    [{ primary: "postgres://db/shop", replicas: [] }, { maxLagSeconds: 0 }, "openDatabase.maxLagSeconds must be"],
  ])("rejects %j with %j", (source, options, message) => {
    expect(() => openDatabase(source as never, options)).toThrow(message);
  });
});
