import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Condition, isEqual, isIn, type PorticoApp } from "portico";
import { CursorPagination, LimitOffsetPagination, PageNumberPagination, type Totals } from "portico/pagination";
import { tableHandler, totalsCache } from "portico/sql";
import { logCatcher, type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { NEVER } from "../../../src/pagination/conditions/condition.ts";
import { scopedApp, scopeOf } from "../../pagination/scoped.ts";
import { bodyOf, ids, range, target, thereAndBack } from "../../pagination/ways.ts";

interface Row {
  readonly id: number;
  readonly owner: number | null;
}
const rows: readonly Row[] = range(1, 300).map((id) => ({ id, owner: [null, 1, 2, 3, 3, 1, 1][id % 7] ?? null }));
/** Two callers whose statements differ in a parameter only, and one who may see nothing. */
const callers: Readonly<Record<string, readonly number[]>> = { ann: [1, 3], bob: [2, 3], eve: [] };
const visible = (caller: string): number[] =>
  rows.filter(({ owner }) => owner !== null && callers[caller]?.includes(owner)).map(({ id }) => id);

describe.each(engineNames)("a scoped list on %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, `portico_lists_${randomUUID().slice(0, 8)}`);
    await createTable(engine, "items", { id: "key", owner: "int?" }, ["owner, id"]);
    await insertRows(engine, "items", rows);
    await sql.raw(name === "MariaDB" ? "analyze table items" : "analyze items").execute(engine.database);
  });
  afterAll(() => engine?.close());

  const query = () => engine.database.selectFrom("items").selectAll();
  const app = (caller: () => string, options: Parameters<typeof scopedApp>[1] = {}): PorticoApp =>
    scopedApp(() => {
      const owners = callers[caller()] ?? [];
      const allows = async ({ owner }: Row): Promise<boolean> => owner !== null && owners.includes(owner);
      return scopeOf("item.visible", isIn("owner", owners), allows);
    }, options);
  const serve = (declare: (app: PorticoApp) => unknown): Record<"as", (caller: string) => TestClient> => {
    let current = "";
    const built = app(() => current);
    declare(built);
    const client = testClient(built);
    return {
      as: (caller) => {
        current = caller;
        return client;
      },
    };
  };
  const strategies = [
    [
      "cursors",
      new CursorPagination({
        order: [
          ["owner", "desc"],
          ["id", "asc"],
        ],
      }),
    ],
    ["page numbers", new PageNumberPagination()],
    ["offsets", new LimitOffsetPagination()],
  ] as const;
  const inListOrder = (caller: string): number[] =>
    rows
      .filter(({ id }) => visible(caller).includes(id))
      .toSorted((a, b) => Number(b.owner) - Number(a.owner) || a.id - b.id)
      .map(({ id }) => id);

  it.each(strategies)("has the rows of each caller and no others, by %s", async (kind, strategy) => {
    const clients = serve((it) =>
      it.get("/items", ({ response }) => response.apaginate(tableHandler(query()) as never, { strategy } as never)),
    );

    for (const caller of ["ann", "bob", "eve", "ann"]) {
      const { forward, backward } = await thereAndBack(clients.as(caller), "/items?page_size=30&limit=30");
      const expected = kind === "cursors" ? inListOrder(caller) : visible(caller);
      expect(forward).toEqual(expected);
      expect(backward).toEqual(expected);
    }
  });

  it("counts what the caller may see: exactly, up to a cap and from a cache", async () => {
    const cache = totalsCache();
    const clients = serve((it) =>
      it
        .get("/exact", ({ response }) => response.apaginate(tableHandler(query())))
        .get("/cached", ({ response }) => response.apaginate(tableHandler(query(), { totalsCache: cache })))
        .get("/capped", ({ response }) => response.apaginate(tableHandler(query()), { totals: { capped: 50 } }))
        .get("/cursor", ({ response }) =>
          response.apaginate(tableHandler(query()), { strategy: "cursor", totals: "exact" }),
        ),
    );
    const total = async (caller: string, path: string): Promise<unknown> =>
      bodyOf(await clients.as(caller).get(path)).pagination["total_items"];

    for (const caller of ["ann", "bob", "eve", "ann", "bob"]) {
      const count = visible(caller).length;
      for (const path of ["/exact", "/cached", "/cursor"]) expect(await total(caller, path)).toBe(count);
      expect(await total(caller, "/capped")).toBe(Math.min(50, count));
    }
    expect(new Set(Object.keys(callers).map((caller) => visible(caller).length)).size).toBe(3);
  });

  it("estimates what the caller may see", async () => {
    const clients = serve((it) =>
      it.get("/items", ({ response }) =>
        response.apaginate(tableHandler(query()), { totals: "estimated" satisfies Totals }),
      ),
    );

    const total = Number(bodyOf(await clients.as("ann").get("/items")).pagination["total_items"]);

    // An estimate of the whole table would be 300.
    expect(total).toBeGreaterThan(visible("ann").length / 2);
    expect(total).toBeLessThan(280);
  });

  it("rejects a cursor of another rule, and reads nothing with one of another caller", async () => {
    let rule = "item.visible";
    let owner = 1;
    const built = scopedApp(() => scopeOf(rule, isEqual("owner", owner), (row: Row) => row.owner === owner)).get(
      "/items",
      ({ response }) => response.apaginate(tableHandler(query()), { strategy: "cursor" }),
    );
    const client = testClient(built);
    const next = target(bodyOf(await client.get("/items")).pagination.links["next"]);

    owner = 2;
    const ofAnother = ids(bodyOf(await client.get(next)));
    rule = "item.other";
    const mismatch = await client.get(next);

    expect(ofAnother).not.toEqual([]);
    expect(rows.filter(({ id }) => ofAnother.includes(id)).every((row) => row.owner === 2)).toBe(true);
    expect(mismatch.status).toBe(400);
    expect(mismatch.json()).toMatchObject({ code: "cursor_mismatch" });
  });

  it("sends nothing if the condition has a row that the rule refuses", async () => {
    const log = logCatcher();
    const conditions: readonly Condition[] = [isIn("owner", [1, 2]), NEVER];
    const clients = conditions.map((condition) =>
      testClient(
        scopedApp(() => scopeOf("item.visible", condition, ({ owner }: Row) => owner === 1), { logger: log }).get(
          "/items",
          ({ response }) => response.apaginate(tableHandler(query()), { strategy: "cursor" }),
        ),
      ),
    );

    const [refused, empty] = await Promise.all(clients.map((client) => client.get("/items")));

    expect(refused?.status).toBe(500);
    expect(refused?.text()).not.toContain("items");
    expect(JSON.stringify(log.lines)).toContain("`where` of the rule item.visible includes a row");
    expect(empty?.json()).toMatchObject({ items: [], pagination: { has_more: false } });
  });
});
