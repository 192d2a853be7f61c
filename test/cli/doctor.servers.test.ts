import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { stripVTControlCharacters } from "node:util";
import { sql } from "kysely";
import { migrate, openDatabase } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PgBouncer } from "../../lab/servers/pgbouncer.ts";
import { newPlace } from "../sql/accounts/databases.ts";
import { type Ran, runOnTerminal, runPortico } from "./run-portico.ts";

const config = ["--config", resolve(import.meta.dirname, "fixtures/doctor.config.ts")];
const SECRET = randomBytes(32).toString("base64url");

interface Report {
  readonly ok: number;
  readonly warnings: number;
  readonly failed: number;
  readonly checks: readonly { readonly level: string; readonly check: string; readonly message: string }[];
}

function doctor(fixture: object, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return runPortico(["doctor", "--json", ...config], { env: { FIXTURE: JSON.stringify(fixture), ...env } });
}

/** The findings of a check, as one line each. */
function found({ out }: Ran, check: string): readonly string[] {
  const { checks } = JSON.parse(out) as Report;
  return checks.filter((entry) => entry.check === check).map(({ level, message }) => `${level}: ${message}`);
}

/** A server that accepts connections and never answers. */
async function silentServer(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const production = { NODE_ENV: "production" };
const sound = {
  secret: SECRET,
  redis: "redis://127.0.0.1:6379",
  app: { publicUrl: "https://shop.example", trustedProxies: ["10.0.0.0/8"] },
};

describe("portico doctor", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portico-doctor-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("examines a database whose tables are guarded", async () => {
    const guarded = `sqlite:${join(folder, "guarded.db")}`;
    const opened = openDatabase(guarded);
    await migrate(opened, "up");
    await sql`create table notes (id integer primary key, owner text not null)`.execute(opened);
    await opened.destroy();

    const ran = await doctor({ ...sound, guarded });

    expect(["database", "migrations", "writes"].map((check) => found(ran, check))).toEqual([
      [expect.stringMatching(/^ok: SQLite .* responds$/)],
      [expect.stringMatching(/^ok: all \d+ migrations are applied$/)],
      ["ok: the database accepts writes"],
    ]);
  });

  it("finds nothing in an application that is configured for production", async () => {
    const database = `sqlite:${join(folder, "shop.db")}`;
    const opened = openDatabase(database);
    await migrate(opened, "up");
    await opened.destroy();

    const ran = await doctor({ ...sound, database }, production);

    expect(JSON.parse(ran.out)).toMatchObject({ warnings: 0, failed: 0 });
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(found(ran, "environment")).toEqual(["ok: NODE_ENV is production"]);
    expect(found(ran, "stores")).toEqual(
      ["durable", "counters", "bus"].map((role) => `ok: the ${role} role passes its health check`),
    );
    expect(found(ran, "graphql")).toEqual(["ok: graphql is installed once"]);
    expect(found(ran, "database")).toEqual([expect.stringMatching(/^ok: SQLite 3\.\d+\.\d+ responds$/)]);
    expect(found(ran, "migrations")).toEqual(["ok: all 4 migrations are applied"]);
    expect(found(ran, "writes")).toEqual(["ok: the database accepts writes"]);
  });

  it("says that a database which responds accepts no writes", async () => {
    const file = join(folder, "locked.db");
    const other = new DatabaseSync(file);
    other.exec("pragma journal_mode = wal; begin immediate");
    onTestFinished(() => other.close());

    const ran = await doctor({ ...sound, database: `sqlite:${file}` }, production);

    expect(found(ran, "database")).toEqual([expect.stringMatching(/^ok: SQLite .* responds$/)]);
    expect(found(ran, "writes")).toEqual([
      expect.stringMatching(/^failed: .+\. The database responds but accepts no writes/),
    ]);
  });

  it.each([
    ["transaction", ["warning: a pooler shares connections between clients and loses named statements"]],
    ["session", []],
  ] as const)("warns of a pooler in %s mode only if it loses named statements", async (mode, findings) => {
    const pooler = await PgBouncer.start(mode, "public");
    onTestFinished(() => pooler.remove());

    const ran = await doctor({ ...sound, database: pooler.url }, production);

    expect(found(ran, "pooler").map((line) => line.split(",", 1)[0])).toEqual(findings);
  });

  it("fails for times without a zone that this process reads hours off", async () => {
    const place = await newPlace("PostgreSQL");
    onTestFinished(() => place.remove());
    await sql`create table notes (id integer primary key, written_at timestamp, read_at timestamptz)`.execute(
      place.open(),
    );
    const fixture = { ...sound, database: place.url };

    const [shifted, utc] = await Promise.all(
      ["America/New_York", "UTC"].map((zone) => doctor(fixture, { ...production, TZ: zone })),
    );

    expect(shifted && found(shifted, "time zone")).toEqual([
      "failed: times in notes.written_at have no time zone, and this process reads and writes them in America/New_York: set TZ=UTC, or change the columns to timestamptz",
    ]);
    expect(utc && found(utc, "time zone")).toEqual([]);
  });

  it("prints a table on a terminal", async () => {
    const ran = await runOnTerminal(["doctor", ...config], { env: { FIXTURE: JSON.stringify(sound) } });
    const { code } = ran;
    const out = stripVTControlCharacters(ran.out).replaceAll("\r", "");

    expect(code).toBe(0);
    expect(out).toMatch(/^LEVEL +CHECK +FINDING$/m);
    expect(out).toMatch(/^warning +environment +NODE_ENV is not set/m);
    expect(out).toMatch(/\n\n\d+ ok, 1 warnings, 0 failed, 1 not checked\n$/);
  });

  it("names everything that does not fit production", async () => {
    const secret = "the secret for development, which is not a real one";
    const app = {
      publicUrl: "http://shop.example",
      trustedProxies: ["0.0.0.0/1"],
      origins: ["http://admin.example"],
      cursorKeys: [SECRET, SECRET],
      openapi: true,
    };

    const ran = await doctor({ secret, ide: true, app }, production);

    expect(ran.code).toBe(1);
    expect(found(ran, "secrets")).toEqual([
      "failed: the secret of SessionMiddleware.secret looks like a default for development. Use 32 random bytes in production",
      "warning: PorticoApp.cursorKeys contains the same secret twice. Remove one of them",
    ]);
    expect(found(ran, "public URL")).toEqual([
      expect.stringContaining(
        "failed: PorticoApp.publicUrl is http://shop.example, but browsers accept the session cookie",
      ),
    ]);
    expect(found(ran, "proxies")).toEqual([
      expect.stringContaining("failed: PorticoApp.trustedProxies contains 0.0.0.0/1"),
    ]);
    expect(found(ran, "origins")).toEqual([
      expect.stringContaining("warning: PorticoApp.origins contains http://admin"),
    ]);
    expect(found(ran, "exposure")).toEqual([
      expect.stringContaining("warning: Graph.introspection is enabled at /graphql"),
      expect.stringContaining("warning: Graph.ide is enabled at /graphql"),
      expect.stringContaining("warning: PorticoApp.openapi is enabled, so anyone can read /openapi.json"),
    ]);
    expect(found(ran, "stores")).toEqual([expect.stringContaining("failed: PorticoApp.stores is the memory")]);
    expect(ran.out).not.toContain(secret);
    expect(ran.out).not.toContain(SECRET);
  });

  it("warns about a missing public URL, proxies behind https, gates without authentication, and an unknown NODE_ENV", async () => {
    const [bare, behind, unknown] = await Promise.all([
      doctor({}, production),
      doctor({ app: { publicUrl: "https://shop.example" } }, production),
      doctor({}, { NODE_ENV: "prod" }),
    ]);

    expect(found(bare, "public URL")).toEqual([expect.stringContaining("warning: PorticoApp.publicUrl is not set")]);
    expect(found(bare, "application")).toContainEqual(
      expect.stringMatching(/^warning: no authentication .*\(GET \/me\)/),
    );
    expect(found(behind, "proxies")).toEqual([expect.stringContaining("warning: PorticoApp.trustedProxies is empty")]);
    expect(found(unknown, "environment")).toEqual([expect.stringContaining('failed: NODE_ENV is "prod"')]);
    expect([bare.code, behind.code, unknown.code]).toEqual([0, 0, 1]);
  });

  it("says why an application is not built, and still checks the database", async () => {
    const ran = await doctor({ secret: "short", database: `sqlite:${join(folder, "empty.db")}` });

    expect(ran.code).toBe(1);
    expect(found(ran, "application")).toEqual([
      expect.stringContaining("failed: the application could not be built: SessionMiddleware.secret must be"),
    ]);
    expect(found(ran, "migrations")).toEqual([
      "failed: 4 migrations are pending: 0001_users, 0002_permissions_and_roles, 0003_stores, 0004_outbox. Run portico migrate up",
    ]);
  });

  it("checks a bus of its own beside stores in memory", async () => {
    const silent = await silentServer();

    const ran = await doctor({ nats: `nats://127.0.0.1:${silent.port}` });
    silent.close();

    expect(found(ran, "stores")).toEqual([
      expect.stringContaining("ok: PorticoApp.stores is the memory of the process"),
      expect.stringMatching(/^failed: .*NATS.*Check the URL of PorticoApp.stores/),
    ]);
  });

  it("answers although servers and checks do not, and shows no password", async () => {
    const silent = await silentServer();
    const at = `:hunter22@127.0.0.1:${silent.port}`;
    const fixture = { redis: `redis://${at}`, database: `postgres://shop${at}/shop`, hangs: true };

    const ran = await doctor(fixture);
    silent.close();

    expect(ran.code).toBe(1);
    expect(found(ran, "stores").filter((line) => line.startsWith("failed: Redis does not respond"))).toHaveLength(2);
    expect(found(ran, "health")).toEqual([
      "failed: no response within 4000 ms. PorticoApp.health.checks.slow fails, so the application would not be ready",
    ]);
    expect(found(ran, "database")).toEqual([expect.stringMatching(/^failed: .*Check the URL in DATABASE_URL/)]);
    expect(ran.out + ran.err).not.toContain("hunter22");
  });

  it("asks for a configuration if there is none, and reports one that throws", async () => {
    const without = await runPortico(["doctor", "--json"], { cwd: folder });
    const throwing = await doctor({}, { FIXTURE: "{ postgres://shop:hunter22@db/shop", API_SECRET: "hunter22" });

    expect(found(without, "configuration")).toEqual([
      expect.stringContaining("failed: no application: create portico"),
    ]);
    expect(found(throwing, "configuration")).toEqual([expect.stringMatching(/^failed: /)]);
    expect(throwing.out).not.toContain("hunter22");
    expect([without.code, throwing.code]).toEqual([1, 1]);
  });
});
