import { CompiledQuery, sql } from "kysely";
import { Client } from "pg";
import { isEqual, isIn, PorticoApp, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { type Database, openDatabase, tableHandler, transaction } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { onStatementSent } from "../../../src/sql/database/on-statement-sent.ts";
import { ann, bob, guard, type ShopTables } from "./guarded-shop.ts";
import { openPolicedShop, type PolicedShop } from "./policed-shop.ts";

let policed: PolicedShop;
let shop: Database<ShopTables>;
let asAnn: Database<ShopTables>;

beforeAll(async () => {
  policed = await openPolicedShop();
  await policed.apply();
  shop = policed.open();
  asAnn = shop.as(ann);
});
afterAll(() => policed.close());
beforeEach(async () => {
  await policed.plain.deleteFrom("projects").where("id", ">", 2).execute();
  await policed.plain
    .updateTable("projects")
    .set({ org: (eb) => eb.ref("id") })
    .execute();
});

const ids = (rows: readonly { id: unknown }[]): number[] => rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b);

describe("statements with the conditions of the guard", () => {
  it("read and write the rows of the caller", async () => {
    const named = asAnn.updateTable("projects").set({ name: "x" }).where("id", "=", 3);
    await asAnn.insertInto("projects").values({ id: 3, org: 1, name: "new" }).execute();

    expect((await named.executeTakeFirst()).numUpdatedRows).toBe(1n);
    expect(ids(await asAnn.selectFrom("projects").selectAll().execute())).toEqual([1, 3]);
    expect(ids(await shop.as(bob).selectFrom("tasks").selectAll().execute())).toEqual([22]);
    expect(await asAnn.selectFrom("members").selectAll().execute()).toEqual([{ person: "ann", org: 1, role: "owner" }]);
    expect(ids(await shop.asSystem("a test").selectFrom("projects").selectAll().execute())).toEqual([1, 2, 3]);
  });

  it("stream rows", async () => {
    const found: { id: number }[] = [];
    for await (const row of asAnn.selectFrom("projects").selectAll().stream(1)) found.push(row);

    expect(ids(found)).toEqual([1]);
  });

  it("set the caller again after a savepoint is undone, and for each caller of a transaction", async () => {
    const trx = await asAnn.begin();
    const savepoint = await trx.begin();
    await savepoint.selectFrom("projects").selectAll().execute();
    await savepoint.end("failure");
    const system = trx.asSystem("a test").selectFrom("projects").selectAll();
    const own = trx.selectFrom("projects").selectAll();

    const found = await Promise.all([own, system, own, system, own].map((query) => query.execute()));

    await trx.end("success");
    expect(found.map(ids)).toEqual([[1], [1, 2], [1], [1, 2], [1]]);
  });

  it("are sent together with the setting, and reads with the end of their transaction", async () => {
    const asAnn = shop.as(ann);
    const rows = () => asAnn.selectFrom("projects").select("id").execute();
    await rows();
    let events: string[] = [];
    const sending = Reflect.get(Client.prototype, "query") as (...args: unknown[]) => Promise<unknown>;
    const spy = vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...args: unknown[]) {
      const [given] = args as [string | { readonly text: string }];
      events.push((typeof given === "string" ? given : given.text).split(/[\s;]/)[0] as string);
      const result = Reflect.apply(sending, this, args);
      return result.finally(() => events.push("-")) as never;
    });

    expect(ids(await rows())).toEqual([1]);
    expect(events.join(" ")).toBe("begin select commit - - -");
    events = [];
    await asAnn.updateTable("projects").set("name", "mine").where("id", "=", 1).execute();
    expect(events.join(" ")).toBe("begin update - - commit -");
    events = [];
    await asAnn.transaction().execute(async (trx) => {
      for (const table of ["projects", "tasks"] as const) await trx.selectFrom(table).selectAll().execute();
    });
    expect(events.join(" ")).toBe("begin - select select - - select - commit -");
    spy.mockRestore();
  });

  it("look up each organisation of a merged list in the index", async () => {
    const { plain } = policed;
    await sql`insert into projects select n, 2, 'many' from generate_series(100, 3000) n`.execute(plain);
    await sql`create index projects_org on projects (org, id)`.execute(plain);
    await sql`analyze projects`.execute(plain);
    const sent: CompiledQuery[] = [];
    onStatementSent(shop, (statement) => sent.push(statement));
    const list = tableHandler(asAnn.selectFrom("projects").selectAll());

    expect(ids(await list.getItemsAfter({ order: [["id", "asc"]], key: ["0"], direction: "forward" }, 5))).toEqual([1]);

    const { sql: text, parameters } = sent.find((statement) => statement.sql.includes("~parents")) as CompiledQuery;
    const explain = CompiledQuery.raw(`explain ${text}`, [...parameters]);
    const { rows } = await policed.openBare().executeQuery<{ "QUERY PLAN": string }>(explain);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan.match(/Index Cond: \(\(org = .*~va.*\) AND \(id > .*~vb/g), plan).toHaveLength(2);
    await sql`drop index projects_org`.execute(plain);
  });

  it("leave no caller on the connection", async () => {
    const one = policed.open({ poolSize: 2 });
    const setting = sql<{ set: string | null }>`select current_setting('portico.guard', true) as set`;
    for (let at = 0; at < 3; at++) await one.as(ann).selectFrom("projects").selectAll().execute();

    const { rows } = await setting.execute(one.asSystem("a test"));

    expect(rows[0]?.set ?? "").toBe("");
  });

  it("read lists while each connection for transactions is held", async () => {
    const poolSize = 3;
    const small = policed.open({ poolSize, timeoutSeconds: 20 });
    const app = new PorticoApp({ logger: false });
    const list = () => tableHandler(small.selectFrom("projects").selectAll());
    app.get("/", { params: { trx: transaction(small) } }, async ({ trx }) => {
      await trx.selectFrom("tasks").selectAll().execute();
      return [ids(await list().getItems(0, 10)), await list().getTotalItems()];
    });
    const client = testClient(app).as(ann);

    const responses = await Promise.all(Array.from({ length: 2 * poolSize }, () => client.get("/")));

    expect(responses.map((response) => response.json())).toEqual(responses.map(() => [[1], 1]));
  });
});

describe("statements without the conditions of the guard", () => {
  let bare: Database<ShopTables>;
  /** Runs a statement as a caller of the application would without the guard. */
  const as = async <T>(user: SimpleUser | null, run: (trx: Database<ShopTables>) => Promise<T>): Promise<T> => {
    const setting = user === null ? "" : await settingOf(user);
    const trx = await bare.begin();
    try {
      await sql`select set_config('portico.guard', ${setting}, true)`.execute(trx);
      return await run(trx);
    } finally {
      await trx.end("failure");
    }
  };
  const settingOf = async (user: SimpleUser): Promise<string> => {
    const trx = await shop.as(user).begin();
    await trx.selectFrom("projects").selectAll().execute();
    const text = sql<{ text: string }>`select current_setting('portico.guard') as text`;
    const { rows } = await text.execute(trx.asSystem("a test"));
    await trx.end("success");
    return rows[0]?.text ?? "";
  };
  beforeAll(() => {
    bare = policed.openBare();
  });

  it("read only rows of the caller", async () => {
    const all = (trx: Database<ShopTables>) => trx.selectFrom("projects").selectAll().execute().then(ids);

    expect(await as(ann, all)).toEqual([1]);
    expect(await as(bob, all)).toEqual([2]);
    expect(await as(null, all)).toEqual([]);
    expect(await as(ann, (trx) => trx.selectFrom("countries").selectAll().execute())).toHaveLength(1);
    expect(await bare.selectFrom("members").selectAll().execute()).toEqual([]);
  });

  it("write only rows of the caller", async () => {
    const refused = { code: "42501", routine: "ExecWithCheckOptions" };
    const insert = (org: number) => (trx: Database<ShopTables>) =>
      trx.insertInto("projects").values({ id: 9, org, name: "x" }).executeTakeFirstOrThrow();
    const member = { person: "ann", org: 2, role: "guest" };

    expect((await as(ann, insert(1))).numInsertedOrUpdatedRows).toBe(1n);
    await expect(as(ann, insert(2))).rejects.toMatchObject(refused);
    await expect(as(ann, (trx) => trx.updateTable("projects").set({ org: 2 }).execute())).rejects.toMatchObject(
      refused,
    );
    const counted = await as(ann, (trx) => trx.updateTable("projects").set({ name: "y" }).executeTakeFirst());
    expect(counted.numUpdatedRows).toBe(1n);
    expect((await as(ann, (trx) => trx.deleteFrom("tasks").executeTakeFirst())).numDeletedRows).toBe(1n);
    await expect(as(ann, (trx) => trx.insertInto("members").values(member).execute())).rejects.toMatchObject(refused);
  });
});

describe("shapes of conditions", () => {
  const owners = rule<{ org: number; name: string }>({
    name: "boss",
    allows: () => true,
    where: ({ identity }) => (identity === "boss" ? isEqual("name", "foreign") : isIn("org", [1])),
  });
  const boss = new SimpleUser("boss");
  const options = { guard: { ...guard, projects: { read: owners, write: owners } } };
  afterAll(() => policed.apply());

  it("fail the request of a caller whose condition has another one", async () => {
    await policed.apply(options);
    const unsampled = policed.open(options);

    expect(ids(await unsampled.as(ann).selectFrom("projects").selectAll().execute())).toEqual([1]);
    await expect(unsampled.as(boss).selectFrom("projects").selectAll().execute()).rejects.toMatchObject({
      code: "POLICY_SHAPE_UNKNOWN",
    });
    expect(await unsampled.as(boss).selectFrom("members").selectAll().execute()).toEqual([]);
  });

  it("come from sample users", async () => {
    const sampled = { ...options, policies: [boss] };
    await policed.apply(sampled);

    expect(ids(await policed.open(sampled).as(boss).selectFrom("projects").selectAll().execute())).toEqual([2]);
  });

  it("must be those of a user who may do something", async () => {
    const unreadable = rule<{ org: number }>({
      name: "orgs",
      allows: () => true,
      where: (user) => isIn("org", (user as unknown as { orgs: number[] }).orgs),
    });
    const none = { guard: { ...guard, projects: { read: unreadable, write: "closed" as const } } };

    await expect(policed.apply(none)).rejects.toThrow("has no sample user for the rule projects.read");
  });

  it("contain no times", async () => {
    const past = rule<{ org: Date }>({ name: "past", allows: () => true, where: () => isEqual("org", new Date(0)) });
    const timed = { guard: { ...guard, projects: { read: past, write: "closed" as const } } };

    await expect(policed.apply(timed)).rejects.toThrow("which compares org with a time");
  });
});

describe("at startup", () => {
  const check = (database: Database): Promise<void> => database.check();

  it("refuses a role that policies don't concern", async () => {
    await expect(check(policed.openAsOwner())).rejects.toThrow("have no effect on projects for the role");
    await expect(check(shop)).resolves.toBeUndefined();
  });

  it("refuses policies of other rules, missing ones, and others beside them", async () => {
    const closed = { read: "open", write: "closed" } as const;
    const inverse = { guard: { ...guard, countries: closed } };
    await expect(check(policed.open(inverse))).rejects.toThrow(
      "found no policies on countries: run portico rls --write",
    );
    const changed = { guard: { ...guard, projects: closed } };
    await expect(check(policed.open(changed))).rejects.toThrow("found policies of other rules on projects");
    await expect(policed.open(changed).as(ann).selectFrom("projects").selectAll().execute()).rejects.toThrow(
      "other rules",
    );

    await sql`create policy everyone on tasks using (true)`.execute(policed.plain);
    await expect(check(policed.open())).rejects.toThrow(
      "found another policy on tasks, which allows more: drop everyone",
    );
    await sql`drop policy everyone on tasks`.execute(policed.plain);
  });

  it("refuses SQLite, and policies without rules", () => {
    expect(() => openDatabase("sqlite::memory:", { guard: {}, policies: true })).toThrow(
      "policies is an option for PostgreSQL",
    );
    expect(() => openDatabase("postgres://127.0.0.1/test", { policies: true })).toThrow("requires the option guard");
  });
});

it("brings back the earlier policies when a later migration is reverted", async () => {
  const one = await openPolicedShop();
  const projects = async (): Promise<unknown> =>
    ids(await one.open().as(ann).selectFrom("projects").selectAll().execute());
  const later = { guard: { ...guard, projects: { read: "open", write: "closed" } } } as const;
  const revertFirst = await one.apply();
  const revertLater = await one.apply(later, true);
  await one.open(later).check();
  await expect(projects()).rejects.toThrow("other rules");

  await revertLater();

  await one.open().check();
  expect(await projects()).toEqual([1]);
  expect(await one.openBare().selectFrom("tasks").selectAll().execute()).toEqual([]);
  await expect(one.openAsOwner().check()).rejects.toThrow("have no effect");
  await revertFirst();
  expect(await one.openBare().selectFrom("tasks").selectAll().execute()).toHaveLength(2);
  await one.close();
});

it("concerns an owner of the tables with --force, also where a rule reads its own table", async () => {
  const owned = await openPolicedShop();
  await owned.apply({}, true);
  await owned.giveAway();

  expect(ids(await owned.open().as(ann).selectFrom("projects").selectAll().execute())).toEqual([1]);
  expect(await owned.open().as(ann).selectFrom("members").selectAll().execute()).toHaveLength(1);
  expect(await owned.openBare().selectFrom("members").selectAll().execute()).toEqual([]);
  await owned.close();
});

it("lets only the role of the application execute the functions of policies with --role", async () => {
  const shared = await openPolicedShop();
  const executable = async (): Promise<readonly boolean[]> => {
    const { rows } = await sql<{ isExecutable: boolean }>`
      select has_function_privilege('public', oid, 'execute') as "isExecutable"
      from pg_proc where pronamespace = current_schema()::regnamespace and prosecdef`.execute(shared.plain);
    return [...new Set(rows.map(({ isExecutable }) => isExecutable))];
  };
  const projects = async (): Promise<readonly number[]> =>
    ids(await shared.open().as(ann).selectFrom("projects").selectAll().execute());

  await shared.apply();
  expect(await executable()).toEqual([true]);
  const revert = await shared.apply({}, false, false);
  expect(await executable()).toEqual([false]);
  expect(await projects()).toEqual([1]);

  // The statements of an earlier migration may be written again.
  await shared.apply({}, false, false);
  expect(await projects()).toEqual([1]);
  await revert();
  await shared.close();
});
