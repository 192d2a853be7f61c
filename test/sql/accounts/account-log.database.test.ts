import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { accountRoutes, useAuth } from "portico/auth";
import { CursorPagination } from "portico/pagination";
import { accountLog, accountLogMigration, type Database, migrate, openDatabase, userModel } from "portico/sql";
import type { TestClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type AccountHarness,
  accountHarness,
  ann,
  type HarnessOptions,
  password,
} from "../../auth/accounts/account-harness.ts";
import { type EngineName, engineNames, newPlace, onServer, type Place } from "./databases.ts";

async function placeWithLog(name: EngineName): Promise<Place> {
  const place = await newPlace(name);
  onTestFinished(() => place.remove());
  await migrate(place.open({ poolSize: 2 }), "up", { migrations: [accountLogMigration] });
  return place;
}

function accounts(database: Database, account: HarnessOptions["account"] = {}): AccountHarness {
  const log = accountLog(database);
  const harness = accountHarness({ users: userModel(database), account: { onEvent: log.record, ...account } });
  harness.app.get("/events", { auth: useAuth() }, ({ user, response }) =>
    response.paginate(log.events(user.identity), { strategy: new CursorPagination({ order: [["at", "desc"]] }) }),
  );
  return harness;
}

interface Page {
  readonly items: readonly { readonly kind: string }[];
  readonly pagination: { readonly links: { readonly next: string } };
}

async function page(client: TestClient, path: string, headers: Readonly<Record<string, string>>): Promise<Page> {
  return (await client.get(path, { headers })).json() as Page;
}

const rowsOf = (database: Database): Promise<readonly Record<string, unknown>[]> =>
  database.selectFrom("account_log").selectAll().orderBy("at").execute();

describe.each(engineNames)("the account log in %s", (name) => {
  it("keeps events with their outcome, user, caller, address and device, and shutdown waits for it", async () => {
    const place = await placeWithLog(name);
    const { app, post, session, users } = accounts(place.open());
    await post("/register", ann);
    await post("/login", { identifier: "ann", password: "something else" }, "203.0.113.9");
    const headers = { ...(await session()), "user-agent": "okhttp/4.12.0" };
    const body = { current_password: password, new_password: "a new and better one" };
    await post("/password", body, "203.0.113.1", headers);
    const id = (await users.objects.get({ email: ann.email }))?.identity;
    await app.close();

    const rows = await rowsOf(place.open());

    expect(
      rows.map(({ kind, outcome, user_id, actor_id, address }) => [kind, outcome, user_id, actor_id, address]),
    ).toEqual([
      ["registered", "success", id, null, "203.0.113.1"],
      ["login_failed", "failure", null, null, "203.0.113.9"],
      ["login_succeeded", "success", id, null, "203.0.113.1"],
      ["password_changed", "success", id, id, "203.0.113.1"],
    ]);
    expect(rows.at(-1)?.["device"]).toBe("App on Android");
    expect(JSON.stringify(rows)).not.toContain(password);
  });

  it("is a paged list of the events of one user, newest first", async () => {
    const place = await placeWithLog(name);
    const { app, client, post, session } = accounts(place.open());
    onTestFinished(() => app.close());
    await post("/register", ann);
    await post("/register", { ...ann, email: "bob@example.org", username: "bob" });
    await session("bob");
    const headers = await session();
    await expect.poll(async () => (await rowsOf(place.open())).length).toBe(4);

    const first = await page(client, "/events?page_size=1", headers);
    const second = await page(client, first.pagination.links.next.replace("https://shop.example", ""), headers);

    const kinds = [...first.items, ...second.items].map(({ kind }) => kind);
    expect(kinds).toEqual(["login_succeeded", "registered"]);
  });
});

it("[auth:AU-266] works for a database role that may neither update nor delete entries", async () => {
  const place = await placeWithLog("PostgreSQL");
  const schema = /search_path%3D(?<schema>\w+)/.exec(place.url)?.groups?.["schema"];
  const role = `portico_${randomUUID().replaceAll("-", "")}`;
  await onServer(`create role ${role} login`);
  await onServer(`grant usage on schema ${schema} to ${role}`);
  await onServer(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
  await onServer(`revoke update, delete on ${schema}.account_log from ${role}`);
  const database: Database<any> = openDatabase(place.url.replace("root@", `${role}@`));
  onTestFinished(async () => {
    await database.destroy();
    await onServer(`drop owned by ${role}`);
    await onServer(`drop role ${role}`);
  });
  const { app, post } = accounts(database);
  await post("/register", ann);
  await app.close();

  expect(await rowsOf(database)).toHaveLength(1);
  await expect(database.deleteFrom("account_log").execute()).rejects.toThrow("permission denied");
  await expect(database.updateTable("account_log").set({ kind: "x" }).execute()).rejects.toThrow("permission denied");
});

describe.each(engineNames)("an account log in %s that cannot be written", (name) => {
  /** The log is renamed away, so that its inserts fail. */
  const breakLog = (database: Database) => sql`alter table account_log rename to elsewhere`.execute(database);
  const repair = (database: Database) => sql`alter table elsewhere rename to account_log`.execute(database);

  it("is named in readiness, and does not affect sign-ins by default", async () => {
    const database = (await placeWithLog(name)).open();
    const { app, client, post } = accounts(database);
    onTestFinished(() => app.close());
    await post("/register", ann);
    expect((await client.get("/readyz")).json()).toMatchObject({ checks: { accountLog: "ok" } });

    await breakLog(database);

    const ready = await client.get("/readyz");
    expect([ready.status, ready.json()]).toMatchObject([200, { checks: { accountLog: "failed" } }]);
    expect((await post("/login", { identifier: "ann", password })).status).toBe(200);
    await repair(database);
    expect((await client.get("/readyz")).json()).toMatchObject({ checks: { accountLog: "ok" } });
    expect(await rowsOf(database)).toHaveLength(1);
  });

  it("rejects sign-ins with 503 and without a credential if it is required", async () => {
    const database = (await placeWithLog(name)).open();
    const { app, post } = accounts(database, { accountLog: "required" });
    onTestFinished(() => app.close());
    await post("/register", ann);
    const signedIn = await post("/login", { identifier: "ann", password });
    await breakLog(database);

    const answers = [
      await post("/login", { identifier: "ann", password }),
      await post("/token", { identifier: "ann", password }),
      await post("/login", { identifier: "ann", password: "something else" }),
    ];

    expect([signedIn.status, ...answers.map(({ status }) => status)]).toEqual([200, 503, 503, 503]);
    expect(answers.map(({ headers }) => headers["set-cookie"])).toEqual([undefined, undefined, undefined]);
    expect(answers.map((answer) => (answer.json() as { code: string }).code)).toEqual(
      Array.from({ length: 3 }, () => "service_unavailable"),
    );
    await repair(database);
    expect((await post("/login", { identifier: "ann", password })).status).toBe(200);
    const kinds = (await rowsOf(database)).map(({ kind }) => kind);
    expect(kinds).toEqual(["registered", "login_succeeded", "login_succeeded"]);
  });
});

it("a required account log needs a hook that keeps the events", () => {
  expect(() => accountRoutes({ ...REQUIRED, accountLog: "required" })).toThrow(
    "accountRoutes.accountLog is required, but there is no onEvent that keeps the events",
  );
});

const REQUIRED = { userModel: userModel(openDatabase("sqlite::memory:")), secret: "s".repeat(32), audience: "shop" };
