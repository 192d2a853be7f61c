import { CamelCasePlugin, type CompiledQuery, expressionBuilder, sql } from "kysely";
import { identify, isEqual, isIn, PorticoApp, rule, some } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { type Database, tableHandler, totalsCache, transaction } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { waysAround } from "../../../lab/servers/ways-around.ts";
import { KnownFunctions } from "../../../src/sql/guard/known-functions.ts";
import { engineNames } from "../accounts/databases.ts";
import { ann, bob, guard, inOrganisation, memberOf, openShop, type ShopTables } from "./guarded-shop.ts";

describe.each(engineNames)("a guarded database on %s", (engine) => {
  let opened: Awaited<ReturnType<typeof openShop>>;
  let shop: Database<ShopTables>;
  let plain: Database<ShopTables>;
  let asAnn: Database<ShopTables>;

  beforeAll(async () => {
    opened = await openShop(engine);
    ({ shop, plain } = opened);
    asAnn = shop.as(ann);
  });
  afterAll(() => opened.place.remove());
  beforeEach(async () => {
    await plain.deleteFrom("projects").where("id", ">", 2).execute();
    await plain
      .updateTable("projects")
      .set({ org: (eb) => eb.ref("id") })
      .execute();
    await plain.deleteFrom("members").where("role", "<>", "owner").execute();
  });

  const ids = (rows: readonly { id: unknown }[]): number[] =>
    rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b);

  describe("reads", () => {
    it("returns the rows of the user alone", async () => {
      expect(ids(await asAnn.selectFrom("projects").selectAll().execute())).toEqual([1]);
      expect(ids(await shop.as(bob).selectFrom("projects").selectAll().execute())).toEqual([2]);
    });

    it("guards joins, subqueries, CTEs and set operations", async () => {
      const joined = asAnn.selectFrom("projects as p").innerJoin("tasks as t", "t.project", "p.id").select("t.id");
      const within = asAnn.selectFrom("countries").select((eb) =>
        eb
          .selectFrom("projects")
          .select((e) => e.fn.countAll<number>().as("n"))
          .as("id"),
      );
      const named = asAnn
        .with("mine", (q) => q.selectFrom("tasks").selectAll())
        .selectFrom("mine")
        .select("mine.id");
      const united = asAnn.selectFrom("projects").select("id").union(asAnn.selectFrom("tasks").select("id"));

      expect(ids(await joined.execute())).toEqual([11]);
      expect(ids((await within.execute()) as { id: number }[])).toEqual([1]);
      expect(ids(await named.execute())).toEqual([11]);
      expect(ids(await united.execute())).toEqual([1, 11]);
    });

    it("keeps the other side of a left join", async () => {
      const rows = await asAnn
        .selectFrom("countries as c")
        .leftJoin("projects as p", (join) => join.on("p.id", "=", 2))
        .select(["c.code", "p.name"])
        .execute();

      expect(rows).toEqual([{ code: "fr", name: null }]);
    });

    it("lets no foreign row through a full join", async () => {
      const rows = await asAnn
        .selectFrom("projects as p")
        .fullJoin("tasks as t", (join) => join.onRef("t.id", "=", "p.id"))
        .select(["p.id as id", "t.id as task"])
        .execute();

      expect(rows).toHaveLength(2);
      expect(rows).toEqual(
        expect.arrayContaining([
          { id: 1, task: null },
          { id: null, task: 11 },
        ]),
      );
    });

    it("reads the tables of a rule unguarded, also its own", async () => {
      expect(await asAnn.selectFrom("members").selectAll().execute()).toEqual([
        { person: "ann", org: 1, role: "owner" },
      ]);
    });

    it("puts the author's condition in parentheses", async () => {
      const rows = asAnn.selectFrom("projects").selectAll().where(sql<boolean>`id = ${1} or id = ${2}`);

      expect(ids(await rows.execute())).toEqual([1]);
    });

    it("resolves the names of CTEs by their scope", async () => {
      const shadowed = asAnn
        .with("projects", (q) => q.selectFrom("tasks").selectAll())
        .selectFrom("projects")
        .select("projects.id");

      expect(ids(await shadowed.execute())).toEqual([11]);
    });

    it("reads no CTE in place of the table of a rule", async () => {
      const query = asAnn
        .with("members", (q) => q.selectFrom("countries").select([sql.lit("ann").as("person"), sql.lit(2).as("org")]))
        .selectFrom("projects")
        .selectAll();

      const result = await query.execute().then(ids, (error: { readonly code: string }) => error.code);
      // PostgreSQL has no schema whose name is always known.
      expect(result).toEqual(engine === "PostgreSQL" ? "STATEMENT_UNGUARDED" : [1]);
    });
  });

  describe("writes", () => {
    it("inserts a row of the user, and no other, with the counts of an unguarded write", async () => {
      const result = await asAnn.insertInto("projects").values({ id: 3, org: 1, name: "new" }).executeTakeFirst();
      const foreign = asAnn.insertInto("projects").values([
        { id: 4, org: 1, name: "new" },
        { id: 5, org: 2, name: "new" },
      ]);

      expect(result.numInsertedOrUpdatedRows).toBe(1n);
      await expect(foreign.execute()).rejects.toMatchObject({ status: 403 });
      expect(ids(await plain.selectFrom("projects").select("id").execute())).toEqual([1, 2, 3]);
    });

    it("moves no row to another organisation", async () => {
      await expect(asAnn.updateTable("projects").set({ org: 2 }).execute()).rejects.toMatchObject({ status: 403 });
      expect(await plain.selectFrom("projects").select("org").where("id", "=", 1).execute()).toEqual([{ org: 1 }]);
    });

    it("updates and deletes only rows of the user", async () => {
      const [updated] = await asAnn.updateTable("projects").set({ name: "mine" }).execute();
      const deleted = await asAnn.deleteFrom("projects").where("id", "=", 2).executeTakeFirst();

      expect(updated?.numUpdatedRows).toBe(1n);
      expect(deleted.numDeletedRows).toBe(0n);
      expect(ids(await plain.selectFrom("projects").select("id").execute())).toEqual([1, 2]);
    });

    it("returns rows without its own column", async () => {
      const [row] = await asAnn.insertInto("projects").values({ id: 6, org: 1, name: "x" }).returningAll().execute();

      expect(row).toEqual({ id: 6, org: 1, name: "x" });
    });

    it("updates no foreign row by a conflict", async () => {
      const upsert = asAnn
        .insertInto("projects")
        .values({ id: 2, org: 1, name: "taken" })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ name: "taken", org: 1 }));

      await expect(upsert.execute()).rejects.toMatchObject({ status: 403 });
      expect(await plain.selectFrom("projects").select("name").where("id", "=", 2).execute()).toEqual([
        { name: "foreign" },
      ]);
    });

    it("fails if it changes nothing although the caller can read a row that it means", async () => {
      const reader = opened.place.open<any>({
        guard: { ...guard, projects: { read: "open", write: "closed" } } as never,
      }) as Database<ShopTables>;

      const write = reader.as(ann).updateTable("projects").set({ name: "x" });

      await expect(write.where("id", "=", 1).execute()).rejects.toMatchObject({ status: 403 });
      await expect(write.where("id", "=", 9).execute()).resolves.toBeDefined();
    });

    it("lets no membership justify itself", async () => {
      const join = asAnn.insertInto("members").values({ person: "ann", org: 2, role: "guest" });

      await expect(join.execute()).rejects.toMatchObject({ status: 403 });
    });

    it("undoes a refused write inside a transaction", async () => {
      const trx = await asAnn.begin();
      await expect(trx.updateTable("projects").set({ org: 2 }).execute()).rejects.toMatchObject({ status: 403 });
      // PostgreSQL has ended the transaction.
      await trx.end(engine === "PostgreSQL" ? "failure" : "success");

      expect(ids(await plain.selectFrom("projects").select("id").where("org", "=", 2).execute())).toEqual([2]);
    });
  });

  describe("what the guard cannot check", () => {
    it.each(Object.entries(waysAround))("refuses %s", async (_name, run) => {
      await expect(run(asAnn)).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
      await expect(run(asAnn.withoutPlugins())).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
      const trx = await asAnn.begin();
      await expect(run(trx)).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
      await trx.end("failure");
    });

    it("takes brackets for a list in PostgreSQL, and for a quote in SQLite", async () => {
      const selected = (text: string): Promise<unknown> =>
        asAnn
          .selectFrom("countries")
          .select(sql.raw(text).as("x"))
          .execute()
          .catch(({ code }: { code: string }) => code);

      const seen = [
        await selected("array['select','b']"),
        await selected("[a'], (select name from projects limit 1), [b']"),
      ];

      const syntaxError = "42601";
      expect(seen).toEqual(
        engine === "PostgreSQL"
          ? [[{ x: ["select", "b"] }], syntaxError]
          : ["STATEMENT_UNGUARDED", "STATEMENT_UNGUARDED"],
      );
    });

    it("sends the parameters of raw SQL apart from its text", async () => {
      const selected = (of: (eb: any) => any): Promise<unknown> =>
        asAnn
          .selectFrom("countries")
          .select((eb) => of(eb).as("x"))
          .execute()
          .then(
            ([row]: any[]) => row?.x as unknown,
            () => "a syntax error",
          );

      const seen = [
        await selected(() => sql`(sel${sql.raw("ect name").as("x")} from projects where id = 2)`),
        await selected((eb) => sql`(sel${eb.fn("ect", ["name"])} from projects where id = 2)`),
        await selected(() => sql`E${sql.lit("\\' || (select name from projects where id = 2) -- ")}`),
        await selected(() => sql`1 -${sql.lit(-1)}`),
        await selected((eb) => eb.neg(eb.lit(-1))),
        await selected((eb) => sql`cast(${eb.ref("code")}as text)||${sql.lit("x")}`),
      ];

      expect(seen).toEqual(["a syntax error", "a syntax error", "a syntax error", 2, 1, "frx"]);
    });

    it.runIf(engine === "PostgreSQL")("takes no column of a function's value for another function", async () => {
      const rows = asAnn.selectFrom((eb) =>
        eb.fn<{ v: string }>("unnest", [sql`array[${"select to_tsvector(name) from projects"}]`]).as("v"),
      );

      expect(await rows.selectAll().execute()).toEqual([{ v: "select to_tsvector(name) from projects" }]);
      for (const name of ["ts_stat", "pg_ls_dir", "length"])
        await expect(rows.select(`v.${name}` as "v").execute()).rejects.toThrow(`column v.${name} does not exist`);
      const joined = asAnn
        .selectFrom("projects as p")
        .innerJoin(
          (eb) => eb.fn<{ n: number }>("generate_series", ["p.id", sql.lit(3)]).as("n"),
          (join) => join.onTrue(),
        )
        .select("n.n");
      expect(await joined.execute()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      const bare = asAnn.selectFrom((eb) => eb.fn<{ n: number }>("generate_series", [sql.lit(1), sql.lit(2)]) as never);
      expect(await bare.selectAll().execute()).toEqual([{ generate_series: 1 }, { generate_series: 2 }]);
      await expect(joined.clearSelect().select(sql`n.pg_ls_dir`.as("x")).execute()).rejects.toThrow("does not exist");
    });

    it("calls the functions of the database that read their arguments alone, and declared ones", async () => {
      if (engine === "PostgreSQL")
        await sql`create function twice(integer) returns integer language sql immutable return 2 * $1`.execute(plain);
      const open = (pureFunctions: readonly string[]): Database<ShopTables> =>
        opened.place.open<any>({ guard, pureFunctions }) as Database<ShopTables>;
      const row = asAnn
        .selectFrom("projects")
        .select((eb) => [
          sql<string>`upper(name) || replace ('a', 'a', coalesce(${null}, 'b'))`.as("text"),
          sql<string>`case when (id = 1) and (id in (1, 2)) then cast(1.5 as numeric(3, 1)) end`.as("number"),
          eb.fn.agg<string>("row_number", []).over().as("place"),
          eb.fn.coalesce("name", sql.lit("")).as("name"),
          sql<string>`count(*) filter (where id > 0) over (partition by (name))`.as("count"),
        ]);

      const [seen] = await row.execute();
      expect({ ...seen, number: Number(seen?.number), place: Number(seen?.place), count: Number(seen?.count) }).toEqual(
        {
          text: "MINEb",
          number: 1.5,
          place: 1,
          name: "mine",
          count: 1,
        },
      );
      await expect(asAnn.selectNoFrom(sql`Twice(4)`.as("x")).execute()).rejects.toThrow(
        "the function Twice, which may read a table. If it reads nothing but its arguments, name it in openDatabase.pureFunctions",
      );
      const declared = open(["twice"])
        .as(ann)
        .selectNoFrom((eb) => [sql`Twice (4)`.as("x"), eb.fn("TWICE", [sql.lit(5)]).as("y")]);
      const found = await declared.execute().catch((error: Error) => error.message);
      // SQLite's driver has no such function.
      expect(found).toEqual(engine === "PostgreSQL" ? [{ x: 8, y: 10 }] : "no such function: Twice");
      expect(() => open(["lower(x)"])).toThrow("openDatabase.pureFunctions");
      expect(() => opened.place.open<any>({ pureFunctions: ["twice"] })).toThrow(
        "openDatabase.pureFunctions requires the option guard",
      );
    });

    it.runIf(engine === "PostgreSQL")("calls none of PostgreSQL's functions that do more than compute", async () => {
      const { rows } = await sql<{ name: string }>`
        select distinct proname as name from pg_proc
        where pronamespace = 'pg_catalog'::regnamespace and (provolatile = 'v' or proname ~ '^(lo_|pg_|has_|to_reg|col_desc|obj_desc|current_|inet_(client|server)|txid|ts_(stat|rewrite)|.*_to_xml)') order by 1
      `.execute(plain);
      const known = new KnownFunctions("postgres");
      const isKnown = (name: string): boolean => {
        try {
          known.check(name);
          return true;
        } catch {
          return false;
        }
      };

      expect(rows.length).toBeGreaterThan(300);
      expect(rows.map(({ name }) => name).filter(isKnown)).toEqual([
        "clock_timestamp",
        "gen_random_uuid",
        "pg_typeof",
        "random",
        "timeofday",
      ]);
    });

    it("leaves raw SQL in its place", async () => {
      const joined = asAnn
        .selectFrom("countries as a")
        .innerJoin("countries as b", (join) => join.on(sql<boolean>`1 = 1, projects as p`))
        .select(sql.ref("p.name").as("name"));
      await expect(joined.execute()).rejects.toThrow(/syntax/);

      const update = asAnn.updateTable("projects").set({ name: sql<string>`'x', org = 2` });
      await update.execute().catch(() => {}); // PostgreSQL takes the list for a row.
      expect(await plain.selectFrom("projects").select("org").where("id", "=", 1).execute()).toEqual([{ org: 1 }]);
      const raw = asAnn
        .updateTable("projects")
        .set((eb) => ({ name: sql<string>`coalesce(${"mi"}, ${eb.ref("name")}) || ${"ne"}` }));
      expect(await raw.returning("name").execute()).toEqual([{ name: "mine" }]);

      const ended = asAnn.selectFrom("projects").select("id").modifyEnd(sql`limit 1`);
      expect(await ended.execute()).toEqual([{ id: 1 }]);
    });

    it("executes a compiled query with the values of its caller", async () => {
      const compiled = asAnn.selectFrom("projects").selectAll().compile();
      const values = compiled.parameters as unknown[];

      expect(() => values.fill("bob")).toThrow(TypeError);
      expect(ids((await asAnn.executeQuery(compiled)).rows)).toEqual([1]);
    });

    it.runIf(engine === "SQLite").each<[string, (eb: any) => any]>([
      ["in raw SQL", () => sql`(2, 2, 'foreign') in projects`],
      ["behind an operator", (eb) => eb(eb.tuple(eb.lit(2), eb.lit(2), sql.lit("foreign")), "in", eb.ref("projects"))],
      ["behind a raw operator", (eb) => eb(eb.tuple(eb.lit(2), eb.lit(2)), sql`in`, sql`projects`)],
      ["as raw SQL behind an operator", (eb) => eb(eb.tuple(eb.lit(2), eb.lit(2)), "not in", sql`projects`)],
    ])("takes a name after IN for a table, %s", async (_place, of) => {
      const query = asAnn.selectFrom("countries").select((eb) => of(eb).as("x"));

      await expect(query.execute()).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
    });

    it.runIf(engine === "SQLite").each(["? is null", "?5 is null", ":a is null", "@a is null"])(
      "refuses %s, which takes a parameter of the guard",
      async (text) => {
        const query = asAnn
          .selectFrom("projects")
          .selectAll()
          .where(sql<boolean>`(${sql.raw(text)} or 1 = 1)`);
        const ordered = query.orderBy(sql`${"bob"}`).orderBy(sql`${"bob"}`);

        await expect(ordered.execute()).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
      },
    );

    it("refuses guarded tables without a caller, and no open ones", async () => {
      const reads = [
        shop,
        shop.withoutPlugins(),
        shop.current(),
        shop.withPlugin({ transformQuery: ({ node }) => node, transformResult: async ({ result }) => result }),
      ];
      for (const database of reads)
        await expect(database.selectFrom("projects").selectAll().execute()).rejects.toMatchObject({
          code: "CALLER_REQUIRED",
        });
      await expect(shop.selectFrom("countries").selectAll().execute()).resolves.toHaveLength(1);
      await expect(shop.ping()).resolves.toBeUndefined();
    });

    it("keeps the user without plugins and within a transaction", async () => {
      const trx = await asAnn.withoutPlugins().begin();

      const rows = await trx.selectFrom("projects").selectAll().execute();
      const all = await trx.asSystem("a test").selectFrom("projects").selectAll().execute();
      await trx.end("success");

      expect(ids(rows)).toEqual([1]);
      expect(ids(all)).toEqual([1, 2]);
    });

    it("refuses a subquery of another handle in a query without rules", async () => {
      const system = shop.asSystem("a test");
      const camel = new CamelCasePlugin();
      const projectsOf = async (outer: typeof shop, inner: Pick<typeof shop, "selectFrom">) => {
        const tasks = inner.selectFrom("tasks").select("project");
        return ids(await outer.selectFrom("projects").selectAll().where("id", "in", tasks).execute());
      };

      for (const [outer, inner] of [
        [system, shop],
        [system, asAnn],
        [system, shop.withPlugin(camel)],
        [system.withPlugin(camel), asAnn.withPlugin(camel)],
        [shop.withPlugin(camel).asSystem("a test"), shop],
      ] as const)
        await expect(projectsOf(outer, inner)).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
      expect(await projectsOf(system, system)).toEqual([1, 2]);
      expect(await projectsOf(system, expressionBuilder<ShopTables>())).toEqual([1, 2]);
      expect(await projectsOf(asAnn, system)).toEqual([1]);
    });

    it("executes raw SQL again for the next handle with its rules", async () => {
      const statement = sql`select * from projects`;

      await statement.execute(shop.asSystem("a test"));

      await expect(statement.execute(asAnn)).rejects.toMatchObject({ code: "STATEMENT_UNGUARDED" });
    });
  });

  describe("in a request", () => {
    const counts = totalsCache();
    const app = (): PorticoApp => {
      const made = new PorticoApp({ logger: false });
      const inTransaction = transaction(shop);
      const compiled = {
        query: null as ReturnType<typeof shop.selectFrom> extends never ? never : CompiledQuery | null,
      };
      made.get("/all", async () => ids(await shop.selectFrom("projects").selectAll().execute()));
      made.get("/trx", { params: { trx: inTransaction } }, async ({ trx }) => [
        ids(await trx.selectFrom("projects").selectAll().execute()),
        ids(await shop.current().selectFrom("projects").selectAll().execute()),
      ]);
      made.get("/list", ({ response }) => response.apaginate(list()));
      made.get("/count", async () => list().getTotalItems());
      made.get("/estimate", async () => list().estimateTotalItems());
      made.get("/shared", async () => [
        ids(await shared.getItems(0, 10)),
        ids(await shared.getItemsAfter({ order: [["id", "asc"]], key: null, direction: "forward" }, 10)),
        await shared.getTotalItems(),
      ]);
      made.get("/outer", ({ response }) =>
        response.apaginate(
          tableHandler(
            shop
              .selectFrom("projects")
              .leftJoin("tasks", (join) => join.onRef("tasks.id", "=", "projects.id"))
              .select(["projects.id", "tasks.title"]),
          ),
        ),
      );
      made.get("/kept", async () => {
        compiled.query ??= shop.selectFrom("projects").selectAll().compile();
        return ids((await shop.executeQuery(compiled.query)).rows as { id: number }[]);
      });
      made.get("/switched", async ({ ctx }) => {
        identify(ctx, { user: ann, auth: "session" });
        const query = shop.selectFrom("projects").selectAll().compile();
        identify(ctx, { user: bob, auth: "session" });
        return shop.executeQuery(query).then(
          ({ rows }) => ids(rows),
          ({ code }: { code: string }) => code,
        );
      });
      return made;
    };
    const list = () => tableHandler(shop.selectFrom("projects").selectAll(), { totalsCache: counts });
    let shared: ReturnType<typeof list>;
    const client = (user = ann) => testClient(app()).as(user);

    beforeAll(() => {
      shared = list();
    });

    it("acts as the caller", async () => {
      expect(await (await client().get("/all")).json()).toEqual([1]);
      expect(await (await client(bob).get("/all")).json()).toEqual([2]);
      expect(await (await client().get("/trx")).json()).toEqual([[1], [1]]);
      expect(await (await testClient(app()).get("/all")).json()).toEqual([]);
    });

    it("pages through and counts the rows of each caller, also with one list for all of them", async () => {
      expect(await (await client().get("/list")).json()).toMatchObject({ items: [{ id: 1 }] });
      expect(await (await client(bob).get("/list")).json()).toMatchObject({ items: [{ id: 2 }] });
      for (const path of ["/count", "/estimate"]) {
        expect(await (await client().get(path)).json()).toBe(1);
        expect(await (await client(bob).get(path)).json()).toBe(1);
      }
      expect(await (await client().get("/shared")).json()).toEqual([[1], [1], 1]);
      expect(await (await client(bob).get("/shared")).json()).toEqual([[2], [2], 1]);
    });

    it("restricts a list with an outer join", async () => {
      expect(await (await client().get("/outer")).json()).toMatchObject({ items: [{ id: 1, title: null }] });
    });

    it("executes no statement of another request", async () => {
      const one = testClient(app());
      await one.as(ann).get("/kept");

      expect((await one.as(bob).get("/kept")).status).toBe(500);
    });

    it("executes no statement of another user in the same request", async () => {
      expect((await testClient(app()).get("/switched")).json()).toBe("STATEMENT_UNGUARDED");
    });
  });

  it("names a table that the guard doesn't name with the first statement", async () => {
    const { countries: _countries, ...fewer } = guard;
    const incomplete = opened.place.open<any>({ guard: fewer });

    const read = incomplete.as(ann).selectFrom("projects").selectAll().execute();

    await expect(read).rejects.toThrow("openDatabase.guard doesn't name countries");
  });

  it("checks its tables and columns at startup", async () => {
    const collation = engine === "SQLite" ? "nocase" : "loose";
    if (engine === "PostgreSQL")
      await sql`create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`.execute(
        plain,
      );
    await sql.raw(`create table notes (id integer, owner text collate ${collation}, title text)`).execute(plain);
    const byOwner = rule<{ owner: string }>({
      name: "note",
      allows: () => true,
      where: (user) => isEqual("owner", user.identity),
    });
    const open = (notes: object): Database => opened.place.open<any>({ guard: { ...guard, notes } as never });

    await expect(opened.place.open<any>({ guard } as never).check()).rejects.toThrow("doesn't name notes");
    const ofOwner = open({ read: byOwner, write: "closed" });
    await expect(ofOwner.check()).rejects.toThrow("compares notes.owner, which ignores the case of text");
    await expect(ofOwner.as(ann).selectFrom("notes").selectAll().execute()).rejects.toThrow("notes.owner");
    const titles = rule<{ title: string }>({ name: "t", allows: () => true, where: () => isEqual("title", "a") });
    await expect(open({ read: titles, write: "closed" }).check()).resolves.toBeUndefined();
    await expect(plain.check()).resolves.toBeUndefined();
    await sql`drop table notes`.execute(plain);
  });

  it.runIf(engine === "PostgreSQL").each([
    ["all_names(projects)", "is called as a column of a row"],
    ["all_names(record)", "is called as a column of a row"],
    ["lower(projects)", "has the name of a built-in one"],
    ["lower(projects, integer)", "has the name of a built-in one"],
  ])("names the function %s at startup", async (signature, reason) => {
    const name = signature.replace(/\(.*/, "");
    await sql.raw(`create function ${signature} returns text language plpgsql as 'begin return 1; end'`).execute(plain);
    const open = (pureFunctions: readonly string[]): Database => opened.place.open<any>({ guard, pureFunctions });

    const refused = `openDatabase.pureFunctions doesn't name ${name}, a function of the database that ${reason}`;
    await expect(open([]).check()).rejects.toThrow(refused);
    await expect(open([]).as(ann).selectFrom("projects").select(`projects.${name}`).execute()).rejects.toThrow(refused);
    await expect(open([name]).check()).resolves.toBeUndefined();
    await sql.raw(`drop function ${signature}`).execute(plain);
  });

  it.runIf(engine === "SQLite")(
    "writes to tables without a rowid, unless a rule looks up other rows of one",
    async () => {
      for (const table of ["plain_tags", "owned_tags"])
        await sql
          .raw(`create table ${table} (org integer, name text primary key, owner text) without rowid`)
          .execute(plain);
      const ownTags = rule<{ org: number }>({
        name: "tag",
        allows: () => true,
        where: (user) => isIn("org", { from: "owned_tags", column: "org", where: isEqual("owner", user.identity) }),
      });
      const tags = (owned: object) =>
        opened.place.open<any>({
          guard: { ...guard, plain_tags: { read: inOrganisation, write: inOrganisation }, owned_tags: owned } as never,
        });

      const written = tags(guard.projects as object).as(ann);
      expect(await written.insertInto("plain_tags").values({ org: 1, name: "a" }).execute()).toMatchObject([
        { numInsertedOrUpdatedRows: 1n },
      ]);
      const foreign = written.insertInto("plain_tags").values({ org: 2, name: "b" });
      await expect(foreign.execute()).rejects.toMatchObject({ status: 403 });
      await expect(tags({ read: ownTags, write: ownTags }).check()).rejects.toThrow(
        "openDatabase.guard.owned_tags has a rule that looks up other rows of its own table, and a table WITHOUT ROWID",
      );
      for (const table of ["plain_tags", "owned_tags"]) await sql.raw(`drop table ${table}`).execute(plain);
    },
  );

  it("checks a row whose key is set by another name", async () => {
    const first = rule<{ id: number }>({ name: "first", allows: () => true, where: () => isIn("id", [1, 3]) });
    const keyed = opened.place.open<any>({ guard: { ...guard, projects: { read: first, write: first } } });
    const update = (id: number): Promise<unknown> =>
      keyed
        .as(ann)
        .updateTable("projects")
        .set({ [engine === "SQLite" ? "rowid" : "id"]: id })
        .execute();

    await expect(update(7)).rejects.toMatchObject({ status: 403 });
    await expect(update(1)).resolves.toBeDefined();
  });

  it("names a generated column that a rule for writing compares", async () => {
    await sql`create table notes (id integer, code text, Owner text generated always as (code) stored)`.execute(plain);
    const byOwner = rule<{ owner: string }>({
      name: "note",
      allows: () => true,
      where: (user) => isEqual("owner", user.identity),
    });
    const open = (write: unknown): Database =>
      opened.place.open<any>({ guard: { ...guard, notes: { read: byOwner, write } } as never });

    await expect(open(byOwner).check()).rejects.toThrow(/compares notes.owner, which is generated/i);
    await expect(open("closed").check()).resolves.toBeUndefined();
    await sql`drop table notes`.execute(plain);
  });

  it
    .skipIf(engine === "PostgreSQL")
    .each([
      "owner text collate 'nocase'",
      "/* owner */ owner text collate nocase",
      "owner text default '(,' collate\nnocase",
    ])("finds the collation of %s", async (column) => {
    await sql.raw(`create table notes (id integer, ${column})`).execute(plain);
    const byOwner = rule<{ owner: string }>({
      name: "note",
      allows: () => true,
      where: (user) => isEqual("owner", user.identity),
    });
    const found = opened.place.open<any>({ guard: { ...guard, notes: { read: byOwner, write: "closed" } } as never });

    await expect(found.check()).rejects.toThrow("compares notes.owner, which ignores the case of text");
    await sql`drop table notes`.execute(plain);
  });

  it("takes rules together with required permissions", async () => {
    const staffOrOwn = some(useAuth({ permissions: ["read:all"] }), inOrganisation);
    const mixed = opened.place.open<any>({ guard: { ...guard, projects: { read: staffOrOwn, write: "closed" } } });
    const staff = new SimpleUser("sam", ["read:all"]);

    expect(ids(await mixed.as(staff).selectFrom("projects").select("id").execute())).toEqual([1, 2]);
    expect(ids(await mixed.as(ann).selectFrom("projects").select("id").execute())).toEqual([1]);
    const guardOf = (read: object) => () =>
      opened.place.open<any>({ guard: { ...guard, projects: { read, write: "closed" } } as never });
    expect(guardOf(useAuth({ freshSeconds: 60 }))).toThrow("openDatabase.guard.projects.read must be a rule");
    expect(guardOf(rule({ name: "no where", allows: () => true }))).toThrow("openDatabase.guard.projects.read must be");
  });

  it("takes several conditions of a list besides the rule of the table", async () => {
    const mine = tableHandler(asAnn.selectFrom("projects").selectAll()).scopedTo(memberOf("ann"));

    expect(await mine.scopedTo(isEqual("name", "mine")).getTotalItems()).toBe(1);
    expect(await mine.scopedTo(isEqual("name", "foreign")).getTotalItems()).toBe(0);
  });

  it("has a condition once if the rule of a list is that of the table", async () => {
    const sent: string[] = [];
    const watched = opened.place.open<any>({ guard, onStatement: (statement) => void sent.push(statement.sql) });
    const list = tableHandler(watched.as(ann).selectFrom("projects").selectAll());

    expect(ids((await list.scopedTo(memberOf("ann")).getItems(0, 9)) as { id: number }[])).toEqual([1]);
    expect(sent.at(-1)?.match(/from "members"/g)).toHaveLength(1);
    expect(ids((await list.scopedTo(memberOf("bob")).getItems(0, 9)) as { id: number }[])).toEqual([]);
    expect(sent.at(-1)?.match(/from "members"/g)).toHaveLength(2);
  });
});
