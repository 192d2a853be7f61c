import { join } from "node:path";
import { sql } from "kysely";
import { Depend, PorticoApp, provide } from "portico";
import { field, Graph, mutation, schema, subscription, t } from "portico/graphql";
import { type Database, openDatabase } from "portico/sql";
import { liveClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type OwnPostgres, ownPostgres } from "../../../lab/servers/own-postgres.ts";
import { SmallDisk } from "../../../lab/servers/small-disk.ts";
import { temporaryDirectory } from "../../graphql/uploads/temporary-directory.ts";
import { newPlace, type Place } from "./databases.ts";
import { frozenLine } from "./frozen-line.ts";

const UNAVAILABLE = { code: "SERVICE_UNAVAILABLE", status: 503, headers: { "retry-after": "1" } };

describe("an error of PostgreSQL", () => {
  let place: Place;
  let database: Database;
  beforeAll(async () => {
    place = await newPlace("PostgreSQL");
    database = place.open({ poolSize: 2 });
  });
  afterAll(() => place?.remove());
  const failing = (code: string) =>
    sql`do ${sql.lit(`begin raise exception 'no' using errcode = '${code}'; end`)}`.execute(database);

  it.each([
    ["08006", "The database is unreachable"],
    ["25006", "The database is read-only"],
    ["25P03", "The database is unreachable"],
    ["40001", "The database is busy: the transaction conflicted with another transaction"],
    ["40P01", "The database is busy: the transaction was aborted to resolve a deadlock"],
    ["53100", "The database is out of resources"],
    ["53200", "The database is out of resources"],
    ["53300", "The database is out of resources"],
    ["57014", "The database cancelled the statement because it took too long"],
    ["57P01", "The database is unreachable"],
    ["57P02", "The database is unreachable"],
    ["57P03", "The database is unreachable"],
    ["57P04", "The database is unreachable"],
    ["57P05", "The database is unreachable"],
    ["58030", "The database failed to read or write a file"],
  ])("with the code %s is an outage: %s", async (code, message) => {
    await expect(failing(code)).rejects.toMatchObject({ ...UNAVAILABLE, message, cause: { code } });
  });

  it.each(["22012", "23505", "42601", "55P03", "P0001"])(
    "with the code %s is the application's error",
    async (code) => {
      await expect(failing(code)).rejects.toMatchObject({ code });
    },
  );

  it("in a transaction that the application made read-only is the application's error", async () => {
    const trx = await database.begin({ accessMode: "read only" });

    await expect(sql`create table never (id int)`.execute(trx)).rejects.toMatchObject({ code: "25006" });

    await trx.end("failure");
    await database.ping();
  });

  it("of a statement that the server has timed out is an outage", async () => {
    const trx = await database.begin();
    await sql`set local statement_timeout = '50ms'`.execute(trx);

    await expect(sql`select pg_sleep(5)`.execute(trx)).rejects.toMatchObject({
      ...UNAVAILABLE,
      cause: { code: "57014" },
    });

    await trx.end("failure");
  });
});

describe("a primary that becomes read-only", () => {
  let server: OwnPostgres;
  beforeAll(async () => {
    server = await ownPostgres();
  });
  afterAll(() => server?.remove());

  it("responds with 503 to writes, fails the health check, and is used again when it accepts writes", async () => {
    const database = openDatabase(server.url, { poolSize: 2 });
    onTestFinished(() => database.destroy());
    const admin = openDatabase(server.url, { poolSize: 2 });
    onTestFinished(() => admin.destroy());
    await sql`create table notes (id int)`.execute(database);
    const app = new PorticoApp({ logger: false, health: { checks: { database: () => database.ping() } } })
      .get("/notes", async () => (await sql`select * from notes`.execute(database)).rows)
      .post("/notes", async () => void (await sql`insert into notes values (1)`.execute(database)));
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const states = async () => {
      const answers = [await client.post("/notes"), await client.get("/notes"), await client.get("/readyz")];
      return answers.map(({ status }) => status);
    };
    const set = (setting: string) =>
      admin.connection().execute(async (line) => {
        await sql`set default_transaction_read_only = off`.execute(line);
        await sql`alter system ${sql.raw(setting)}`.execute(line);
        await sql`select pg_reload_conf()`.execute(line);
      });

    const before = await states();
    await set("set default_transaction_read_only = on");
    await expect.poll(async () => (await client.post("/notes")).status).toBe(503);
    const demoted = await states();
    await set("reset default_transaction_read_only");
    await expect.poll(async () => (await client.post("/notes")).status).toBe(204);

    expect(before).toEqual([204, 200, 200]);
    expect(demoted).toEqual([503, 200, 503]);
    expect(await states()).toEqual([204, 200, 200]);
  });
});

describe("a PostgreSQL whose disk is full", () => {
  let server: OwnPostgres;
  let disk: SmallDisk | null;
  beforeAll(async () => {
    server = await ownPostgres();
    disk = await SmallDisk.under(server.url);
  });
  afterAll(async () => {
    await server?.remove();
    disk?.remove();
  });

  it("responds with 503 to writes, still reads, and loses nothing that was acknowledged", async ({ skip }) => {
    skip(disk === null, "only root may mount a disk");
    const database = openDatabase(server.url, { poolSize: 2 });
    onTestFinished(() => database.destroy());
    await sql`create table notes (id serial, text text)`.execute(database);
    const app = new PorticoApp({ logger: false })
      .get("/notes", async () => (await sql`select id from notes`.execute(database)).rows)
      .post(
        "/notes",
        async () => void (await sql`insert into notes (text) values (${"x".repeat(1_000)})`.execute(database)),
      );
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const write = async (times: number): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let n = 0; n < times; n++) statuses.push((await client.post("/notes")).status);
      return statuses;
    };

    const before = await write(1);
    disk?.fill();
    const during = await write(30);
    const refused = await client.post("/notes");
    const reads = await client.get("/notes");
    disk?.free();

    expect([before, new Set(during)]).toEqual([[204], new Set([204, 503])]);
    expect([refused.json(), refused.headers["retry-after"]]).toMatchObject([
      { status: 503, code: "service_unavailable" },
      expect.stringMatching(/^\d+$/),
    ]);
    expect([reads.status, (reads.json() as unknown[]).length]).toEqual([
      200,
      1 + during.filter((status) => status === 204).length,
    ]);
    expect(await write(20)).toEqual(Array.from({ length: 20 }, () => 204));
  });
});

describe("SQLite", () => {
  it("responds with 503 if its disk is full or its file is read-only, inside and outside a transaction", async () => {
    const database = openDatabase(`sqlite:${join(temporaryDirectory(), "full.db")}`);
    onTestFinished(() => database.destroy());
    await sql`create table notes (text text)`.execute(database);
    const fill = sql`insert into notes values (${"x".repeat(100_000)})`;

    await sql`pragma max_page_count = 10`.execute(database);
    await expect(fill.execute(database)).rejects.toMatchObject(UNAVAILABLE);
    const trx = await database.begin();
    await expect(fill.execute(trx)).rejects.toMatchObject(UNAVAILABLE);
    await trx.end("failure");
    await sql`pragma max_page_count = 1000`.execute(database);
    await fill.execute(database);
    await sql`pragma query_only = on`.execute(database);

    await expect(fill.execute(database)).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: "The database is read-only",
    });
  });
});

describe("a GraphQL API during a database outage", () => {
  it("sends retry hints in a response, a batch of fields, a socket and a stream", async () => {
    const place = await newPlace("PostgreSQL");
    onTestFinished(() => place.remove());
    const line = await frozenLine(place.url);
    const database = openDatabase(line.url, { poolSize: 2, timeoutSeconds: 1 });
    onTestFinished(() => database.destroy());
    const one = async () => (await sql`select 1`.execute(database)).rows.length;
    const unitOfWork = provide(async function* ({ ctx }) {
      const trx = await database.begin();
      try {
        yield trx;
      } finally {
        await trx.end(ctx.outcome);
      }
    });
    const app = new PorticoApp({ logger: false });
    new Graph(
      schema({
        query: { rows: field(t.int)(one), fine: field(t.int)(() => 1) },
        mutation: { write: mutation(t.int, { params: { trx: Depend(unitOfWork) } })(() => 1) },
        subscription: {
          counts: subscription(t.int)(async function* () {
            yield await one();
          }),
        },
      }),
    ).mount(app);
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const ask = async (query: string) => (await client.post("/graphql", { body: { query } })).json();
    const outage = { extensions: { code: "SERVICE_UNAVAILABLE", retryAfter: 1 } };
    expect(await ask("{ rows }")).toMatchObject({ data: { rows: 1 } });

    await line.close();

    expect(await ask("{ rows fine }")).toMatchObject({ errors: [{ ...outage, path: ["rows"] }] });
    expect(await ask("mutation { write }")).toMatchObject({ errors: [outage] });
    const socket = await client.socket("/graphql", { protocols: ["graphql-transport-ws"] });
    socket.send(JSON.stringify({ type: "connection_init" }));
    await socket.next();
    socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: "subscription { counts }" } }));
    expect(JSON.parse(await socket.next())).toMatchObject({ id: "1", type: "error", payload: [outage] });
    const stream = await client.post("/graphql", {
      headers: { accept: "text/event-stream" },
      body: { query: "subscription { counts }" },
    });
    expect(stream.text()).toContain('"retryAfter":1,"code":"SERVICE_UNAVAILABLE"');
  });
});
