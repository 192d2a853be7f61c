import { PorticoApp } from "portico";
import { CursorPagination, LimitOffsetPagination, PageNumberPagination, SyncDataHandler } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { type Body, type Book, bodyOf, books, ids, queryOf, range, serveOnce, target } from "../ways.ts";

/** 45 books with a wrong estimate. */
class Guessing extends SyncDataHandler<Book> {
  readonly endsWhenShort: boolean;
  readonly #guess: number;
  constructor(guess: number, endsWhenShort = false) {
    super();
    this.#guess = guess;
    this.endsWhenShort = endsWhenShort;
  }
  getTotalItems(): number {
    return 45;
  }
  estimateTotalItems(): number {
    return this.#guess;
  }
  getItems(offset: number, limit: number): readonly Book[] {
    return books(45).slice(offset, offset + limit);
  }
}

const serve = (handler: SyncDataHandler<Book>) =>
  serveOnce((app) =>
    app
      .get("/pages", ({ response }) => response.paginate(handler, { totals: "estimated" }))
      .get("/offsets", ({ response }) => response.paginate(handler, { strategy: "limit_offset", totals: "estimated" })),
  );

describe("a list without a total", () => {
  it.each([
    [40, undefined],
    [41, "40"],
  ])("of %i items links to a next page only if there is one", async (count, offset) => {
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) =>
        response.paginate(books(count), { strategy: "limit_offset", totals: "none", defaultLimit: 20 }),
      ),
    );

    const { links } = bodyOf(await client.get("/items?offset=20")).pagination;

    expect(links["next"] && queryOf(links["next"])["offset"]).toBe(offset);
  });
});

describe("a source that limits how many rows it skips", () => {
  class Skipping extends SyncDataHandler<Book> {
    readonly maxSkipped = 10;
    getTotalItems(): number {
      return 100;
    }
    getItems(offset: number, limit: number): readonly Book[] {
      return books(100).slice(offset, offset + limit);
    }
  }

  const tooDeep = {
    code: "offset_too_deep",
    detail: "offset exceeds the maximum offset of 10 items. Use the cursor strategy for deep pages.",
  };

  it.each([
    ["offset=10", 200, { items: books(12).slice(10) }],
    ["offset=11", 400, tooDeep],
    ["offset=89", 400, tooDeep],
    ["offset=90", 200, { items: books(92).slice(90) }],
    ["offset=500", 200, { items: [] }],
    ["offset=50&limit=0", 200, { items: [] }],
  ])("counts from the nearer end: %s is %i", async (query, status, body) => {
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) =>
        response.paginate(new Skipping(), { strategy: new LimitOffsetPagination({ defaultLimit: 2 }) }),
      ),
    );

    const answer = await client.get(`/items?${query}`);

    expect([answer.status, answer.json()]).toMatchObject([status, body]);
  });
});

describe("an estimated total", () => {
  it.each([1_000, 45, 3])("of %i has no last page, and every link leads to items", async (guess) => {
    const client = await serve(new Guessing(guess));
    for (const path of ["/pages", "/offsets"]) {
      const seen: unknown[] = [];
      for (let link: string | undefined = `http://x${path}`; link !== undefined; ) {
        const body: Body = bodyOf(await client.get(target(link)));
        seen.push(...ids(body));
        expect(body.pagination.links).not.toHaveProperty("last");
        link = body.pagination.links["next"];
      }
      expect(seen).toEqual(range(1, 45));
    }
  });

  it("is never below the number of items seen, nor lower than the estimate", async () => {
    const totalAt = async (guess: number, path: string): Promise<unknown> =>
      bodyOf(await (await serve(new Guessing(guess))).get(path)).pagination["total_items"];

    expect(await totalAt(3, "/pages?page=2")).toBe(41);
    expect(await totalAt(1_000, "/pages?page=2")).toBe(1_000);
    expect(await totalAt(3, "/pages?page=9")).toBe(3);
  });

  it("links back by one page from beyond the end, because the end is unknown", async () => {
    const client = await serve(new Guessing(3));

    const pages = bodyOf(await client.get("/pages?page=9")).pagination;
    const offsets = bodyOf(await client.get("/offsets?offset=80")).pagination;

    expect(queryOf(pages.links["prev"])).toMatchObject({ page: "8" });
    expect(queryOf(offsets.links["prev"])).toMatchObject({ offset: "60" });
  });

  it("is exact if the end was seen or the source can only count, and then there is a last page", async () => {
    const short = await serve(new Guessing(1_000, true));
    class Counting extends SyncDataHandler<Book> {
      getTotalItems(): number {
        return 45;
      }
      getItems(offset: number, limit: number): readonly Book[] {
        return books(45).slice(offset, offset + limit);
      }
    }
    const counting = await serve(new Counting());

    expect(bodyOf(await short.get("/pages?page=3")).pagination).toMatchObject({ total_items: 45, total_pages: 3 });
    expect(queryOf(bodyOf(await short.get("/pages?page=3")).pagination.links["last"])).toMatchObject({ page: "3" });
    expect(queryOf(bodyOf(await counting.get("/pages")).pagination.links["last"])).toMatchObject({ page: "3" });
  });
});

describe("a source that knows its end when it returns too few items", () => {
  const counts: number[] = [];
  class Known extends SyncDataHandler<Book> {
    readonly endsWhenShort = true;
    readonly #count: number;
    constructor(count: number) {
      super();
      this.#count = count;
    }
    getTotalItems(): number {
      counts.push(this.#count);
      return this.#count;
    }
    getItems(offset: number, limit: number): readonly Book[] {
      return books(this.#count).slice(offset, offset + limit);
    }
  }

  it.each([
    ["an empty first page", 0, "offset=0", 0],
    ["a short page", 45, "offset=40", 0],
    ["a full page", 45, "offset=0", 1],
    ["the last page, if it is full", 40, "offset=20", 1],
    ["an empty page further on", 45, "offset=60", 1],
    ["a limit of 0", 45, "limit=0", 1],
    ["a deep page", 45, "offset=1000", 1],
  ])("counts only if it has to: %s", async (_title, count, query, times) => {
    counts.length = 0;
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.paginate(new Known(count), { strategy: "limit_offset" })),
    );

    expect(bodyOf(await client.get(`/items?${query}`)).pagination["total_items"]).toBe(count);
    expect(counts).toHaveLength(times);
  });
});

describe("a capped total", () => {
  it("[PGS-11] [PGS-13] [PGS-22] is exact if there is a last page, and a lower bound otherwise", async () => {
    const client = await serveOnce((app) =>
      app
        .get("/ten", ({ response }) => response.paginate(books(10), { totals: { capped: 10 } }))
        .get("/more", ({ response }) => response.paginate(books(11), { totals: { capped: 10 } })),
    );

    const [ten, more] = [bodyOf(await client.get("/ten")).pagination, bodyOf(await client.get("/more")).pagination];

    expect([ten["total_items"], more["total_items"]]).toEqual([10, 10]);
    expect(["last" in ten.links, "last" in more.links]).toEqual([true, false]);
    expect(Object.keys(ten)).toEqual(Object.keys(more));
  });
});

describe("the document", () => {
  const totalOf = (strategy: PageNumberPagination | LimitOffsetPagination | CursorPagination): unknown => {
    const item = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as never;
    const app = new PorticoApp({ logger: false }).get("/items", { paginated: { strategy, item } } as {}, () => null);
    const { responses } = (app.openapi().paths["/items"] as any).get;
    return responses[200].content["application/json"].schema.properties.pagination.properties.total_items;
  };

  it("describes the total", () => {
    const capped = { type: "integer", maximum: 10, description: "Counted up to 10; the real total may be higher." };

    expect(totalOf(new PageNumberPagination())).toEqual({ type: "integer" });
    expect(totalOf(new PageNumberPagination({ totals: { capped: 10 } }))).toEqual(capped);
    expect(totalOf(new LimitOffsetPagination({ totals: { capped: 10 } }))).toEqual(capped);
    expect(totalOf(new CursorPagination({ totals: { capped: 10 } }))).toEqual(capped);
    expect(totalOf(new LimitOffsetPagination({ totals: "estimated" }))).toMatchObject({ description: "An estimate." });
    expect(totalOf(new LimitOffsetPagination({ totals: "none" }))).toEqual({ type: ["integer", "null"] });
    expect(totalOf(new CursorPagination())).toEqual({ type: ["integer", "null"] });
  });
});
