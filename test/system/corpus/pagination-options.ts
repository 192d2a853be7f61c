import { PorticoApp } from "portico";
import { CursorPagination } from "portico/pagination";
import type { TableHandler } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { expect } from "vitest";
import * as z from "zod";
import type { ColumnType } from "../../../lab/servers/engines.ts";
import { bodyOf, ids, publicColumns, SECRET, thereAndBack } from "../../pagination/ways.ts";
import type { Rows } from "./answer.ts";
import type { ListSource } from "./paged-tables.ts";

/** The keys of the rows about exact values. */
export const keyColumns: Readonly<Record<string, ColumnType>> = { id: "bigint", word: "text", tie: "int" };
/** Neither fits into a number, and the last is the largest key that there is. */
const LARGE = [9_007_199_254_740_993n, 9_007_199_254_740_994n, 9_223_372_036_854_775_806n, 9_223_372_036_854_775_807n];
const WORDS = ["a'b", 'a"b', "a\\b", "a%_b", "été", "🏛️", "\u{10FFFF}", "line\nbreak", "", " "];
export const keyRows: readonly object[] = [
  ...LARGE.map((id, index) => ({ id: String(id), word: `large ${index}`, tie: 1 })),
  ...WORDS.map((word, index) => ({ id: index, word, tie: 1 })),
];
const IDS = [...WORDS.keys(), ...LARGE].map(String);
export const unnamedColumns: Readonly<Record<string, ColumnType>> = { code: "text" };

/** Some drivers return bigints, which JSON does not have. */
const Row = z.object({ id: z.coerce.string() });

/** Rows that need an option or a table that the shop does not have. */
export function options({ list, statements }: ListSource): Rows {
  type Settings = { readonly strategy?: unknown; readonly totals?: object };
  const serve = (handler: TableHandler<any>, settings: Settings): TestClient => {
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/", { paginated: { strategy: settings.strategy ?? "page_number", item: Row } as never }, ({ response }) =>
      response.apaginate(handler, settings as never),
    );
    return testClient(app);
  };
  const byCursor = (settings: object): Settings => ({ strategy: new CursorPagination(settings) });
  const ascending = (...columns: readonly string[]): Settings =>
    byCursor({ order: columns.map((column) => [column, "asc"]) });

  return {
    async "PG-018 PG-060 no statement is sent for an offset beyond the maximum"() {
      const shallow = list("books", { maxOffset: 50 });
      const before = statements.length;
      for (const [settings, path] of [
        [{}, "/?page=4"],
        [{ strategy: "limit_offset" }, "/?offset=51"],
      ] as const) {
        const refused = await serve(shallow, settings).get(path);
        expect([refused.status, refused.json()]).toMatchObject([400, { code: "offset_too_deep" }]);
      }
      expect(statements).toHaveLength(before);
      expect((await serve(shallow, { strategy: "limit_offset" }).get("/?offset=50")).status).toBe(200);
    },
    async "PG-064 windows of no rows"() {
      const none = list("books", { where: ["genre", "history"] });
      const { items, pagination } = bodyOf(await serve(none, { strategy: "limit_offset" }).get("/"));
      expect([items, pagination["total_items"]]).toEqual([[], 0]);
      const { links } = pagination;
      expect(Object.keys(links).toSorted()).toEqual(["first", "last"]);
      expect([links["first"], links["first"]?.includes("offset=0")]).toEqual([links["last"], true]);
    },
    async "PG-076 a cursor of another order"() {
      const sorted = byCursor({ order: [["id", "asc"]], sortable: publicColumns("title", "genre") });
      const client = serve(list("books"), sorted);
      const cursor = bodyOf(await client.get("/?sort=title&page_size=5")).pagination["next_cursor"] as string;
      const refused = await client.get(`/?sort=genre&cursor=${cursor}`);
      expect([refused.status, refused.json()]).toMatchObject([400, { code: "cursor_mismatch" }]);
      expect((await client.get(`/?sort=title&cursor=${cursor}`)).status).toBe(200);
    },
    async "PG-086 keys beyond 2^53"() {
      const { forward, backward } = await thereAndBack(serve(list("exact_keys"), ascending("id")), "/?page_size=1");
      expect(forward).toEqual(IDS);
      expect(backward).toEqual(forward);
    },
    async "PG-088 words as keys"() {
      const { forward, backward } = await thereAndBack(
        serve(list("exact_keys"), ascending("word", "id")),
        "/?page_size=1",
      );
      expect(new Set(forward)).toEqual(new Set(IDS));
      expect(forward).toHaveLength(IDS.length);
      expect(backward).toEqual(forward);
    },
    async "PG-091 ties are broken by the key"() {
      const { forward } = await thereAndBack(serve(list("exact_keys"), ascending("tie")), "/?page_size=3");
      expect(forward).toEqual(IDS);
    },
    async "PG-121 a total that is capped"() {
      const client = serve(list("books"), { totals: { capped: 10 } });
      const links = async (path: string) => Object.keys(bodyOf(await client.get(path)).pagination.links);
      const [first, last] = [await links("/?page_size=10"), await links("/?page_size=10&page=10")];
      expect([first.includes("next"), first.includes("last"), last.includes("next")]).toEqual([true, false, false]);
      const few = serve(list("exact_keys", { where: ["word", "été"] }), { totals: { capped: 10 } });
      const page = bodyOf(await few.get("/"));
      expect([ids(page).length, Object.keys(page.pagination.links)]).toEqual([1, expect.arrayContaining(["last"])]);
    },
    async "PG-124 a table without a unique key"() {
      const refused = (async () => list("unnamed").check())();
      await expect(refused).rejects.toThrow(/has no (?:column|field) id to break ties: set uniqueKey/);
    },
  };
}
