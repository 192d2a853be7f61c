import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { PorticoApp } from "portico";
import { type CursorMetadata, CursorPagination, type Order } from "portico/pagination";
import { type TableHandler, tableHandler, totalsCache } from "portico/sql";
import { logCatcher, manualClock, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { type Body, bodyOf, ids, publicColumns, range, SECRET, target } from "../../pagination/ways.ts";

describe.each(engineNames)("tableHandler on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_handler_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "items", { id: "key", day: "int", note: "text?" }, [
      "day, id",
      "day, id desc",
      "note, id",
    ]);
    const rows = range(1, 45).map((id) => ({ id, day: id % 3, note: id % 4 === 0 ? null : `n${id % 5}` }));
    await insertRows(engine, "items", rows);
    await createTable(engine, "many", { id: "key", day: "int" }, ["day, id"]);
    await insertRows(
      engine,
      "many",
      range(1, 3_000).map((id) => ({ id, day: id % 7 })),
    );
    await createTable(engine, "unnamed", { code: "text" });
  });
  afterAll(() => engine?.close());

  const items = () => engine.database.selectFrom("items").selectAll();
  const serve = (declare: (app: PorticoApp) => unknown): TestClient => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    declare(app);
    return testClient(app);
  };
  const sent = async (work: () => Promise<unknown>): Promise<string[]> => {
    await work();
    engine.statements.length = 0;
    await work();
    return engine.statements.map((statement) => statement.sql.toLowerCase());
  };
  const walk = async (client: TestClient, path: string): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let link: string | undefined = `http://x${path}`; link !== undefined; ) {
      const body: Body<CursorMetadata> = bodyOf<CursorMetadata>(await client.get(target(link)));
      seen.push(...ids(body));
      link = body.pagination.links.next;
    }
    return seen;
  };

  it("[HND-14] [PGS-14] serves all three strategies, and sends the selected columns", async () => {
    const client = serve((app) =>
      app
        .get("/pages", ({ response }) => response.apaginate(tableHandler(items())))
        .get("/offsets", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "limit_offset" }))
        .get("/cursors", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "cursor" })),
    );
    for (const path of ["/pages", "/offsets", "/cursors"]) expect(await walk(client, path)).toEqual(range(1, 45));
    const body = bodyOf(await client.get("/cursors?page_size=1"));
    expect(Object.keys(body.items[0] ?? {})).toEqual(["id", "day", "note"]);
    expect(bodyOf(await client.get("/pages?page=2")).pagination["total_items"]).toBe(45);
  });

  it("walks a query with an `or` in raw SQL, and repeats no row", async () => {
    const few = () => items().where(sql<boolean>`id <= 5 or id > 40`);
    const client = serve((app) =>
      app.get("/items", ({ response }) =>
        response.apaginate(tableHandler(few()), { strategy: "cursor", defaultPageSize: 3 }),
      ),
    );

    expect(await walk(client, "/items")).toEqual([...range(1, 5), ...range(41, 45)]);
  });

  it("[PGS-18] skips the count for a cursor by default", async () => {
    const client = serve((app) =>
      app.get("/items", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "cursor" })),
    );

    const statements = await sent(async () => {
      expect(bodyOf(await client.get("/items")).pagination["total_items"]).toBeNull();
    });

    expect(statements).toHaveLength(1);
    expect(statements.join()).not.toContain("count(");
  });

  it("[PGS-15] [PGS-16] [PGS-17] [PGS-22] [pagination:PG-121] supports estimated, capped and no totals", async () => {
    const client = serve((app) =>
      app
        .get("/estimated", ({ response }) => response.apaginate(tableHandler(items()), { totals: "estimated" }))
        .get("/capped", ({ response }) => response.apaginate(tableHandler(items()), { totals: { capped: 10 } }))
        .get("/few", ({ response }) =>
          response.apaginate(tableHandler(items().where("id", "<=", 5)), { totals: { capped: 10 } }),
        )
        .get("/none", ({ response }) =>
          response.apaginate(tableHandler(items()), { strategy: "limit_offset", totals: "none" }),
        ),
    );
    await sql.raw(name === "MariaDB" ? "analyze table items" : "analyze items").execute(engine.database);
    const page = async (path: string) => bodyOf(await client.get(path)).pagination;

    const estimated = await sent(async () =>
      expect((await page("/estimated"))["total_items"]).toEqual(expect.any(Number)),
    );
    const capped = await sent(async () => expect((await page("/capped"))["total_items"]).toBe(10));
    const none = await sent(async () =>
      expect(await page("/none")).toMatchObject({ total_items: null, total_pages: null }),
    );

    expect(estimated.join()).not.toContain("count(");
    expect(capped.find((text) => text.includes("count("))).toContain("limit 11");
    expect(none).toHaveLength(1);
    for (const [path, hasNext] of [
      ["/capped", true],
      ["/capped?page=2", true],
      ["/capped?page=3", false],
    ] as const) {
      const { links } = await page(path);
      expect([links["next"] !== undefined, links["last"]]).toEqual([hasNext, undefined]);
    }
    expect((await page("/few")).links["last"]).toBeDefined();
    expect((await page("/none?offset=40")).links).not.toHaveProperty("next");
  });

  it("skips the count on a short page, and uses cached counts", async () => {
    const clock = manualClock();
    const counts = totalsCache({ seconds: 30, clock });
    const client = serve((app) =>
      app
        .get("/items", ({ response }) => response.apaginate(tableHandler(items())))
        .get("/cached", ({ response }) => response.apaginate(tableHandler(items(), { totalsCache: counts }))),
    );

    const short = await sent(async () => {
      expect(bodyOf(await client.get("/items?page=3")).pagination["total_items"]).toBe(45);
    });
    const cached = await sent(async () => void (await client.get("/cached")));
    clock.advance(31_000);
    engine.statements.length = 0;
    await client.get("/cached");

    expect(short.join()).not.toContain("count(");
    expect(cached.join()).not.toContain("count(");
    expect(engine.statements.map((statement) => statement.sql).join()).toContain("count(");
  });

  it("[HND-15] [pagination:PG-018] [pagination:PG-060] rejects offsets beyond maxOffset without sending a statement", async () => {
    const client = serve((app) =>
      app
        .get("/free", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "limit_offset" }))
        .get("/pages", ({ response }) => response.apaginate(tableHandler(items())))
        .get("/limited", ({ response }) =>
          response.apaginate(tableHandler(items(), { maxOffset: 10_000 }), { strategy: "limit_offset" }),
        ),
    );

    expect((await client.get("/free?offset=1000000")).status).toBe(200);
    expect(bodyOf(await client.get("/pages?page=1000000000")).items).toEqual([]);
    expect((await client.get("/limited?offset=10000")).status).toBe(200);
    engine.statements.length = 0;
    const refused = await client.get("/limited?offset=10001");
    expect(refused.json()).toMatchObject({
      status: 400,
      code: "offset_too_deep",
      detail: expect.stringContaining("cursor strategy"),
    });
    expect(engine.statements).toEqual([]);
  });

  it("[HND-16] appends the unique key to the order", async () => {
    const byDay = new CursorPagination({ order: [["day", "desc"]] });
    const client = serve((app) =>
      app
        .get("/cursors", ({ response }) => response.apaginate(tableHandler(items()), { strategy: byDay }))
        .get("/pages", ({ response }) => response.apaginate(tableHandler(items().orderBy("day", "desc")))),
    );

    const [cursors] = await sent(async () => void (await client.get("/cursors")));
    const [pages] = await sent(async () => void (await client.get("/pages")));

    expect(cursors).toMatch(/order by .*day.? desc, .*id.? desc limit 21$/);
    expect(pages).toMatch(/order by .*day.? desc, .*id.? desc limit/);
    expect(await walk(client, "/cursors?page_size=7")).toEqual(
      range(1, 45).toSorted((a, b) => (b % 3) - (a % 3) || b - a),
    );
  });

  it("rejects a query with its own order for cursors, and accepts it for offsets", async () => {
    const byNote = items().orderBy("note");
    const log = logCatcher();
    const app = new PorticoApp({ logger: log, cursorKeys: [SECRET] });
    app
      .get("/cursors", ({ response }) => response.apaginate(tableHandler(byNote), { strategy: "cursor" }))
      .get("/pages", ({ response }) => response.apaginate(tableHandler(byNote)));
    const client = testClient(app);

    expect((await client.get("/cursors")).status).toBe(500);
    expect(log.text).toContain("tableHandler requires a query without ORDER BY for cursor pagination");
    expect((await client.get("/pages")).status).toBe(200);
  });

  it("keeps a direction in raw SQL, from either end", async () => {
    const handler = tableHandler(items().orderBy("day", sql`+ 0 desc`).orderBy("id"));

    const [near, far] = [await handler.getItems(0, 3), await handler.getItems(42, 3, { totalItems: 45 } as never)];

    expect([ids({ items: near as never }), ids({ items: far as never })]).toEqual([
      [2, 5, 8],
      [39, 42, 45],
    ]);
  });

  it("is sorted by the columns that the client chooses, including nullable ones, and binds cursors to that order", async () => {
    const strategy = new CursorPagination({ order: [["id", "asc"]], sortable: publicColumns("day", "note") });
    const client = serve((app) =>
      app.get("/items", ({ response }) => response.apaginate(tableHandler(items()), { strategy })),
    );
    const all = await items().orderBy("note", "desc").orderBy("day").orderBy("id").execute();

    expect(await walk(client, "/items?sort=-note,day&page_size=7")).toEqual(ids({ items: all as { id: unknown }[] }));
    const { next_cursor } = bodyOf<CursorMetadata>(await client.get("/items?sort=day")).pagination;
    expect((await client.get(`/items?sort=-day&cursor=${next_cursor}`)).json()).toMatchObject({
      code: "cursor_mismatch",
    });
    engine.statements.length = 0;
    expect((await client.get("/items?sort=day;drop")).json()).toMatchObject({ code: "invalid_sort" });
    expect(engine.statements).toEqual([]);
  });

  it.runIf(name === "MariaDB")(
    "walks an enum in the order of its declaration, also behind another column",
    async () => {
      await sql
        .raw("create table sizes (id int primary key, day int, size enum('s', 'm', 'l'))")
        .execute(engine.database);
      const rows = range(1, 24).map((id) => ({ id, day: id % 5, size: ["s", "m", "l", null][id % 4] }));
      await insertRows(engine, "sizes", rows);
      const sizes = () => engine.database.selectFrom("sizes").select("id");
      const strategy = new CursorPagination({ sortable: publicColumns("day", "size"), defaultPageSize: 4 });
      const client = serve((app) =>
        app.get("/sizes", ({ response }) => response.apaginate(tableHandler(sizes()), { strategy })),
      );

      for (const [day, size] of [
        ["asc", "asc"],
        ["desc", "asc"],
        ["asc", "desc"],
      ] as const) {
        const sort = `${day === "asc" ? "" : "-"}day,${size === "asc" ? "" : "-"}size`;
        const expected = await sizes().orderBy("day", day).orderBy("size", size).orderBy("id", size).execute();
        expect(await walk(client, `/sizes?sort=${sort}`)).toEqual(expected.map(({ id }) => id as number));
      }
    },
  );

  it("[HND-16] [pagination:PG-124] rejects a query at declaration if it shows that the unique column is missing", async () => {
    const codes = engine.database.selectFrom(engine.database.selectFrom("unnamed").select("code").as("codes"));

    expect(() => tableHandler(codes.selectAll())).toThrow(
      "tableHandler: the query has no column id to break ties: set uniqueKey",
    );
    expect(() => tableHandler(codes.selectAll(), { uniqueKey: ["code", "place"] as never })).toThrow("no column place");
    expect(await tableHandler(codes.selectAll(), { uniqueKey: ["code"] }).getItems(0, 1)).toEqual([]);
    expect(await tableHandler(codes.select("code as id")).getItems(0, 1)).toEqual([]);
  });

  it("[HND-16] [pagination:PG-091] [pagination:PG-124] rejects a table without the unique column when it is checked, and when it is first read", async () => {
    const rows = engine.database.selectFrom("unnamed").selectAll();
    const seek = {
      order: [
        ["code", "asc"],
        ["id", "asc"],
      ] as Order,
      key: null,
      direction: "forward" as const,
    };
    const refusal = {
      name: "ConfigurationError",
      message: expect.stringContaining("tableHandler: the table unnamed has no column id to break ties: set uniqueKey"),
    };

    await expect(tableHandler(rows).check()).rejects.toMatchObject(refusal);
    await expect(tableHandler(rows).getItemsAfter(seek, 1)).rejects.toMatchObject(refusal);
    await expect(tableHandler(rows).getItems(0, 1)).rejects.toMatchObject(refusal);
    const byCode = tableHandler(rows, { uniqueKey: ["code"] });
    await expect(byCode.check()).resolves.toBeUndefined();
    await expect(byCode.getItemsAfter({ ...seek, order: [["code", "asc"]] }, 1)).resolves.toEqual([]);
  });

  it("[HND-16] [pagination:PG-124] prevents startup over a table without the unique column", async () => {
    const rows = engine.database.selectFrom("unnamed").selectAll();
    const app = new PorticoApp({ logger: false }).onStart(() => tableHandler(rows).check());

    await expect(app.listen({ port: 0 })).rejects.toThrow("the table unnamed has no column id");
    await app.close();
  });

  it("[HND-17] reads deep last pages from the other end", async () => {
    const many = engine.database.selectFrom("many").selectAll().orderBy("day");
    const client = serve((app) => app.get("/many", ({ response }) => response.apaginate(tableHandler(many))));
    const expected = range(1, 3_000).toSorted((a, b) => (a % 7) - (b % 7) || a - b);

    const statements = await sent(async () => {
      expect(ids(bodyOf(await client.get("/many?page=149")))).toEqual(expected.slice(2_960, 2_980));
    });

    expect(statements.at(-1)).toMatch(/order by .*day.? desc, .*id.? desc limit/);
    expect(ids(bodyOf(await client.get("/many?page=150")))).toEqual(expected.slice(2_980));
  });

  it("[PAG-43] [PAG-37] [pagination:PG-075] names its list after the table", async () => {
    const client = serve((app) =>
      app
        .get("/a", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "cursor" }))
        .get("/b", ({ response }) => response.apaginate(tableHandler(items()), { strategy: "cursor" }))
        .get("/other", ({ response }) =>
          response.apaginate(tableHandler(engine.database.selectFrom("many").selectAll()), { strategy: "cursor" }),
        )
        .get("/own", ({ response }) =>
          response.apaginate(tableHandler(items(), { name: "own" }), { strategy: "cursor" }),
        ),
    );
    const cursor = bodyOf<CursorMetadata>(await client.get("/a")).pagination.next_cursor;

    expect(ids(bodyOf(await client.get(`/b?cursor=${cursor}`)))).toEqual(range(21, 40));
    for (const path of ["/other", "/own"])
      expect((await client.get(`${path}?cursor=${cursor}`)).json()).toMatchObject({ code: "cursor_mismatch" });
  });

  it("[pagination:PG-085] returns 400 for a key that no longer fits the column", async () => {
    const client = serve((app) =>
      app
        .get("/id", ({ response }) => response.apaginate(tableHandler(items(), { name: "x" }), { strategy: "cursor" }))
        .get("/text", ({ response }) =>
          response.apaginate(
            tableHandler(
              items()
                .clearSelect()
                .select([sql<string>`concat('x', id)`.as("id")]),
              { name: "x" },
            ),
            { strategy: "cursor" },
          ),
        ),
    );
    const cursor = bodyOf<CursorMetadata>(await client.get("/text")).pagination.next_cursor;

    const answer = await client.get(`/id?cursor=${cursor}`);

    expect(answer.json()).toMatchObject({ status: 400, code: "invalid_cursor" });
  });

  it.runIf(name === "PostgreSQL")(
    "reads the catalogue itself if the transaction of another request failed to",
    async () => {
      const list = (database: typeof engine.database) =>
        tableHandler(database.selectFrom("items").selectAll().where("note", "=", "failed"));
      const trx = await engine.database.startTransaction().execute();
      await sql`select 1 / 0`.execute(trx).catch(() => {});

      const [failed, other] = await Promise.allSettled([list(trx).check(), list(engine.database).check()]);
      await trx.rollback().execute();

      expect(failed).toMatchObject({ status: "rejected", reason: { code: "25P02" } });
      expect(other).toMatchObject({ status: "fulfilled" });
    },
  );

  it("runs on the executor of its query: inside a transaction, only on that connection", async () => {
    await engine.database.transaction().execute(async (trx) => {
      await trx.insertInto("items").values({ id: 46, day: 9, note: null }).execute();
      const handler = tableHandler(trx.selectFrom("items").selectAll());

      expect(await handler.getTotalItems()).toBe(46);
      expect(await handler.getItems(45, 5)).toHaveLength(1);
      const seek = {
        order: [
          ["day", "desc"],
          ["id", "asc"],
        ] as Order,
        key: null,
        direction: "forward" as const,
      };
      expect(await handler.getItemsAfter(seek, 1)).toMatchObject([{ id: 46 }]);
      await trx.deleteFrom("items").where("id", "=", 46).execute();
    });
  });

  it("walks filtered, joined and projected queries, even if the order is not selected", async () => {
    const days = engine.database
      .selectFrom("items as i")
      .innerJoin("many as m", "m.id", "i.id")
      .where("m.day", "in", [1, 2, 3])
      .where("i.id", ">", 3)
      .select(["i.id", "m.day as weekday", "i.note"]);
    const order = new CursorPagination({
      order: [
        ["weekday", "asc"],
        ["note", "desc"],
      ],
    });
    const client = serve((app) => {
      app.get("/joined", ({ response }) => response.apaginate(tableHandler(days), { strategy: order }));
      app.get("/narrow", ({ response }) => {
        const rows = tableHandler(items().clearSelect().select("id").where("day", "=", 1)) as TableHandler<any>;
        return response.apaginate(rows, { strategy: new CursorPagination({ order: [["note", "asc"]] }) });
      });
    });
    const expected = range(4, 45).filter((id) => [1, 2, 3].includes(id % 7));

    const joined = await walk(client, "/joined?page_size=4");
    const narrow = await walk(client, "/narrow?page_size=4");

    expect(joined).toHaveLength(expected.length);
    expect(new Set(joined)).toEqual(new Set(expected));
    expect(narrow.toSorted((a, b) => Number(a) - Number(b))).toEqual(range(1, 45).filter((id) => id % 3 === 1));
    expect(Object.keys(bodyOf(await client.get("/narrow?page_size=1")).items[0] ?? {})).toEqual(["id"]);
  });

  it("pages a grouped query by offset, and walks it by cursor as a subquery", async () => {
    const days = engine.database
      .selectFrom("items")
      .select(["day as id", sql<number>`count(*)`.as("many")])
      .groupBy("day");
    const whole = engine.database.selectFrom(days.as("days")).selectAll();
    const client = serve((app) =>
      app
        .get("/pages", ({ response }) => response.apaginate(tableHandler(days, { uniqueKey: [] })))
        .get("/cursors", ({ response }) => response.apaginate(tableHandler(whole), { strategy: "cursor" }))
        .get("/grouped", ({ response }) => response.apaginate(tableHandler(days), { strategy: "cursor" })),
    );

    expect(bodyOf(await client.get("/pages?page_size=2"))).toMatchObject({ pagination: { total_items: 3 } });
    expect(await walk(client, "/cursors?page_size=1")).toEqual([0, 1, 2]);
    expect((await client.get("/grouped")).status).toBe(500);
  });

  it("rejects queries that it cannot paginate", () => {
    expect(() => tableHandler(items().limit(5))).toThrow("without LIMIT and OFFSET");
    expect(() => tableHandler(items(), { maxOffset: -1 })).toThrow("tableHandler.maxOffset");
    expect(() => tableHandler({} as never)).toThrow("requires a Kysely select query");
  });
});
