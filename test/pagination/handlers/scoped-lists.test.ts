import { isEqual, isIn } from "portico";
import {
  AsyncDataHandler,
  AsyncListDataHandler,
  type CursorMetadata,
  type DataHandler,
  type Scopable,
  SyncDataHandler,
  SyncListDataHandler,
} from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { scopedApp, scopeOf } from "../scoped.ts";
import { type Book, bodyOf, books, ids, range, target, thereAndBack } from "../ways.ts";

const isEven = ({ id }: Book): boolean => id % 2 === 0;
const evens = range(1, 45).filter((id) => id % 2 === 0);
const later = async <T>(value: T): Promise<T> => value;

describe("a list in memory with a rule", () => {
  const rules = [
    ["that decides at once", (book: Book) => isEven(book)],
    ["that decides later", (book: Book) => later(isEven(book))],
  ] as const;
  const sources = [
    ["a plain list", () => books(45)],
    ["a SyncListDataHandler", () => new SyncListDataHandler(books(45))],
    ["an AsyncListDataHandler", () => new AsyncListDataHandler(books(45))],
  ] as const;
  const cases = rules.flatMap(([when, allows]) =>
    sources.flatMap(([what, source]) =>
      (["page_number", "limit_offset", "cursor"] as const).map((strategy) => ({
        what,
        source,
        when,
        allows,
        strategy,
      })),
    ),
  );

  it.each(cases)("$what has only the items it allows, $when, by $strategy", async ({ source, allows, strategy }) => {
    const asked: number[] = [];
    const app = scopedApp(() => scopeOf("book.even", null, allows, asked)).get("/books", ({ response }) =>
      response.apaginate(source() as Book[], { strategy } as never),
    );

    const parameter = strategy === "limit_offset" ? "limit" : "page_size";
    const { forward, backward } = await thereAndBack(testClient(app), `/books?${parameter}=4`);

    expect(forward).toEqual(evens);
    expect(backward).toEqual(evens);
    expect(new Set(asked)).toEqual(new Set([45]));
  });

  it.each(["page_number", "limit_offset", "cursor"] as const)(
    "has no totals without a condition, by %s",
    async (strategy) => {
      const pageOf = async (condition: Parameters<typeof scopeOf>[1]) => {
        const app = scopedApp(() => scopeOf("book.even", condition, isEven)).get("/books", ({ response }) =>
          response.paginate(books(45), { strategy, totals: "exact" } as never),
        );
        return bodyOf(await testClient(app).get("/books")).pagination;
      };

      const without = await pageOf(null);
      const withCondition = await pageOf(isEqual("is_even", true));

      expect(without["total_items"]).toBeNull();
      expect(without["total_pages"] ?? null).toBeNull();
      expect(without.links["next"]).toBeDefined();
      // The last page by cursor is read from the end, without a total.
      expect("last" in without.links).toBe(strategy === "cursor");
      expect(withCondition["total_items"]).toBe(evens.length);
    },
  );

  it("waits for a rule that is determined later, with paginate and with apaginate", async () => {
    const app = scopedApp(() => later(scopeOf("book.even", null, isEven)))
      .get("/sync", ({ response }) => response.paginate(books(9)))
      .get("/async", ({ response }) => response.apaginate(books(9)));

    for (const path of ["/sync", "/async"]) expect(ids(bodyOf(await testClient(app).get(path)))).toEqual([2, 4, 6, 8]);
  });

  it("sends no page if the rule cannot decide", async () => {
    const app = scopedApp(() => scopeOf("book.even", null, () => Promise.reject(new Error("the store is down")))).get(
      "/books",
      ({ response }) => response.paginate(books(9)),
    );
    const failing = scopedApp(() => Promise.reject(new Error("the store is down"))).get("/books", ({ response }) =>
      response.paginate(books(9)),
    );

    for (const each of [app, failing]) expect((await testClient(each).get("/books")).status).toBe(500);
  });

  it("has an empty page if the rule allows nothing, and keeps the key of its items", async () => {
    const app = scopedApp(() => scopeOf("book.none", null, () => false)).get("/books", ({ response }) =>
      response.paginate(new SyncListDataHandler(books(9), { uniqueKey: ["title"] }), { strategy: "cursor" }),
    );

    expect(bodyOf(await testClient(app).get("/books"))).toMatchObject({ items: [], pagination: { has_more: false } });
  });
});

describe("a data handler with a rule", () => {
  class Numbers extends SyncDataHandler<Book> implements Scopable<Book> {
    readonly #items: readonly Book[];
    constructor(items: readonly Book[]) {
      super();
      this.#items = items;
    }
    getTotalItems(): number {
      return this.#items.length;
    }
    getItems(offset: number, limit: number): readonly Book[] {
      return this.#items.slice(offset, offset + limit);
    }
    scopedTo(condition: ReturnType<typeof isIn>): DataHandler<Book> {
      return new Numbers(condition === ofEvens ? this.#items.filter(isEven) : this.#items);
    }
  }
  const ofEvens = isIn("id", evens);
  const serve = (scope: ReturnType<typeof scopeOf<Book>>, handler: DataHandler<Book>, log = logCatcher()) =>
    testClient(
      scopedApp(() => scope, { logger: log }).get("/books", ({ response }) =>
        response.apaginate(handler, { strategy: "limit_offset" }),
      ),
    );

  it("applies the condition, and asks the rule about the items of the page only", async () => {
    const asked: number[] = [];
    const client = serve(scopeOf("book.even", ofEvens, isEven, asked), new Numbers(books(45)));

    const body = bodyOf(await client.get("/books?limit=5"));

    expect(ids(body)).toEqual(evens.slice(0, 5));
    expect(body.pagination["total_items"]).toBe(evens.length);
    expect(asked).toEqual([5]);
  });

  it.each([
    ["at once", (book: Book) => book.id !== 4],
    ["later", (book: Book) => later(book.id !== 4)],
  ])("sends no page with a row that the rule refuses %s, and the log names the rule", async (_when, allows) => {
    const log = logCatcher();
    const client = serve(scopeOf("book.even", ofEvens, allows), new Numbers(books(45)), log);

    const refused = await client.get("/books?limit=2");
    const beside = await client.get("/books?limit=1");

    expect(refused.status).toBe(500);
    expect(refused.json()).toMatchObject({ code: "internal_server_error" });
    expect(refused.text()).not.toContain("book.even");
    expect(JSON.stringify(log.lines)).toContain("`where` of the rule book.even includes a row that `allows` refuses");
    expect(ids(bodyOf(beside))).toEqual([2]);
  });

  it("needs a condition", async () => {
    const log = logCatcher();
    const answer = await serve(scopeOf("book.even", null, isEven), new Numbers(books(9)), log).get("/books");

    expect(answer.status).toBe(500);
    expect(JSON.stringify(log.lines)).toContain(
      "the rule book.even cannot restrict the data handler Numbers without a condition: add `where` to the rule",
    );
  });

  it("needs scopedTo, also if the rule has a condition", async () => {
    class Plain extends AsyncDataHandler<Book> {
      async getTotalItems(): Promise<number> {
        return 9;
      }
      async getItems(): Promise<readonly Book[]> {
        return books(9);
      }
    }
    const log = logCatcher();
    const answer = await serve(scopeOf("book.even", ofEvens, isEven), new Plain(), log).get("/books");

    expect(answer.status).toBe(500);
    expect(JSON.stringify(log.lines)).toContain(
      "the rule book.even cannot restrict the data handler Plain, which has no scopedTo: implement it, or use tableHandler or a list",
    );
  });
});

describe("a cursor of a list with a rule", () => {
  it.each([
    ["without a cursorScope", undefined],
    ["with a cursorScope", { shelf: 1 }],
  ])("belongs to that rule, %s", async (_what, cursorScope) => {
    let rule = "book.even";
    const app = scopedApp(() => scopeOf(rule, null, isEven)).get("/books", ({ response }) =>
      response.paginate(books(45), { strategy: "cursor", ...(cursorScope === undefined ? {} : { cursorScope }) }),
    );
    const client = testClient(app);
    const { links } = bodyOf<CursorMetadata>(await client.get("/books")).pagination;

    const same = await client.get(target(links["next"]));
    rule = "book.all";
    const other = await client.get(target(links["next"]));

    expect(same.status).toBe(200);
    expect(other.status).toBe(400);
    expect(other.json()).toMatchObject({ code: "cursor_mismatch", parameter: "cursor" });
  });
});
