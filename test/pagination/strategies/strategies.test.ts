import {
  AsyncDataHandler,
  BasePaginationStrategy,
  type CursorMetadata,
  CursorPagination,
  type CursorParameters,
  InvalidPageError,
  type QueryParams,
  SyncListDataHandler,
} from "portico/pagination";
import { describe, expect, it } from "vitest";
import { type Book, bodyOf, books, bothWays, ids, range, serveOnce, target, thereAndBack } from "../ways.ts";

bothWays("a custom strategy", (serve) => {
  it("[STR-01] [STR-02] [STR-03] [STR-04] [STR-05] [STR-06] controls the pagination", async () => {
    const seen: unknown[][] = [];
    class Own extends BasePaginationStrategy<readonly [number, number], { readonly a: number }> {
      override parseParameters(params: QueryParams): readonly [number, number] {
        seen.push(["parse", { ...params }]);
        return [2, 5];
      }
      override calculateOffsetLimit(...args: [number, number]): readonly [number, number] {
        seen.push(["slice", ...args]);
        return [3, 2];
      }
      override generateMetadata(...args: [number | null, readonly unknown[], string, QueryParams]): {
        readonly a: number;
      } {
        seen.push(["metadata", ...args.slice(0, 3), { ...args[3] }]);
        return { a: 1 };
      }
    }
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(books(9), { strategy: new Own() })),
    );

    const answer = await client.get("/items?x=1&y=2", { headers: { host: "shop" } });

    expect(answer.json()).toEqual({ items: books(9).slice(3, 5), pagination: { a: 1 } });
    expect(answer.headers["link"]).toBeUndefined();
    expect(seen).toEqual([
      ["parse", { x: "1", y: "2" }],
      ["slice", 2, 5],
      ["metadata", 9, books(9).slice(3, 5), "http://shop/items", { x: "1", y: "2" }],
    ]);
  });

  it("[STR-07] receives anything but a tuple as one argument", async () => {
    const seen: unknown[] = [];
    class Own extends BasePaginationStrategy<{ readonly p: number }> {
      override parseParameters(): { readonly p: number } {
        return { p: 2 };
      }
      override calculateOffsetLimit(...args: [{ readonly p: number }]): readonly [number, number] {
        seen.push(args);
        return [0, 1];
      }
    }
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(books(3), { strategy: new Own() })),
    );

    await client.get("/items");

    expect(seen).toEqual([[{ p: 2 }]]);
  });

  it("[STR-08] may inherit each of the three methods", async () => {
    class OnlyParse extends BasePaginationStrategy<readonly [number, number]> {
      override parseParameters(): readonly [number, number] {
        return [2, 5];
      }
    }
    class OnlySlice extends BasePaginationStrategy {
      override calculateOffsetLimit(): readonly [number, number] {
        return [3, 2];
      }
    }
    class OnlyMetadata extends BasePaginationStrategy {
      override generateMetadata(total: number | null): Record<string, unknown> {
        return { count: total };
      }
    }
    const client = await serve((app) =>
      app
        .get("/parse", ({ response }) => response.paginate(books(45), { strategy: new OnlyParse() }))
        .get("/slice", ({ response }) => response.paginate(books(45), { strategy: new OnlySlice() }))
        .get("/metadata", ({ response }) => response.paginate(books(45), { strategy: new OnlyMetadata() })),
    );

    expect(bodyOf(await client.get("/parse"))).toEqual({ items: books(10).slice(5), pagination: { total_items: 45 } });
    expect(ids(bodyOf(await client.get("/slice")))).toEqual([4, 5]);
    const metadata = bodyOf(await client.get("/metadata?page=2"));
    expect(ids(metadata)).toEqual(range(21, 40));
    expect(metadata.pagination).toEqual({ count: 45 });
    expect((await client.get("/metadata?page=0")).json()).toMatchObject({ code: "invalid_page" });
  });

  it("may reject a request with the errors of the specification", async () => {
    class Strict extends BasePaginationStrategy {
      override parseParameters(): never {
        throw new InvalidPageError("no letter like that", { parameter: "letter" });
      }
    }
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate([], { strategy: new Strict() })),
    );

    expect((await client.get("/items")).json()).toMatchObject({ status: 400, parameter: "letter" });
  });

  it("gets an error for an invalid result", async () => {
    class Wrong extends BasePaginationStrategy {
      override calculateOffsetLimit(): readonly [number, number] {
        return [-1, 5];
      }
    }
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate([], { strategy: new Wrong() })),
    );

    expect((await client.get("/items")).status).toBe(500);
  });
});

/** Skips the configured number of items, and returns at most three. */
class Skipping extends CursorPagination {
  readonly #skip: number;
  constructor(skip: number) {
    super();
    this.#skip = skip;
  }
  override calculateOffsetLimit({ size }: CursorParameters): readonly [number, number] {
    return [this.#skip, Math.min(size, 3)];
  }
}

describe.each<[kind: string, source: (count: number) => SyncListDataHandler<Book> | AsyncDataHandler<Book>]>([
  ["a source that can seek", (count) => new SyncListDataHandler(books(count), { name: "books" })],
  [
    "a source that cannot",
    (count) =>
      new (class extends AsyncDataHandler<Book> {
        getTotalItems = async (): Promise<number> => count;
        getItems = async (offset: number, limit: number): Promise<readonly Book[]> =>
          books(count).slice(offset, offset + limit);
      })(),
  ],
])("calculateOffsetLimit of a cursor strategy, over %s", (_kind, source) => {
  const serve = (skip: number, count = 20) =>
    serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(source(count), { strategy: new Skipping(skip) })),
    );

  it("[STR-03] [STR-08] sets the number of items on a page, forward and backward", async () => {
    const client = await serve(0);

    const { forward, backward } = await thereAndBack(client, "/items");

    expect(ids(bodyOf(await client.get("/items")))).toEqual([1, 2, 3]);
    expect([forward, backward]).toEqual([range(1, 20), range(1, 20)]);
  });

  it("[STR-03] skips items from the cursor's position", async () => {
    const client = await serve(2);

    const first = bodyOf<CursorMetadata>(await client.get("/items"));
    const second = bodyOf<CursorMetadata>(await client.get(target(first.pagination.links.next)));
    const back = bodyOf<CursorMetadata>(await client.get(target(second.pagination.links.prev)));

    expect([ids(first), ids(second), ids(back)]).toEqual([
      [3, 4, 5],
      [8, 9, 10],
      [3, 4, 5],
    ]);
  });

  it("produces links that can be followed if everything is skipped", async () => {
    for (const [skip, count] of [
      [5, 3],
      [2, 4],
      [1, 0],
    ] as const) {
      const client = await serve(skip, count);
      const seen = new Set<string>();
      for (const waiting = ["/items"]; waiting.length > 0; ) {
        const path = waiting.pop() as string;
        if (seen.has(path)) continue;
        seen.add(path);
        const answer = await client.get(path);
        expect(answer.status).toBe(200);
        waiting.push(...Object.values(bodyOf(answer).pagination.links).map(target));
      }
    }
  });

  it("[pagination:PG-055] may return nothing, and then has no next page", async () => {
    class Nothing extends CursorPagination {
      override calculateOffsetLimit(): readonly [number, number] {
        return [0, 0];
      }
    }
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(source(9), { strategy: new Nothing() })),
    );

    expect(bodyOf(await client.get("/items"))).toMatchObject({
      items: [],
      pagination: { has_more: false, next_cursor: null, prev_cursor: null },
    });
  });

  it("[HND-15] is limited by the source's maxOffset", async () => {
    const limited = Object.assign(source(20), { maxOffset: 2 });
    const client = await serveOnce((app) =>
      app
        .get("/two", ({ response }) => response.apaginate(limited, { strategy: new Skipping(2) }))
        .get("/three", ({ response }) => response.apaginate(limited, { strategy: new Skipping(3) })),
    );

    expect(ids(bodyOf(await client.get("/two")))).toEqual([3, 4, 5]);
    expect((await client.get("/three")).json()).toMatchObject({ status: 400, code: "offset_too_deep" });
  });

  it("must return two whole numbers", async () => {
    const client = await serve(-1);

    expect((await client.get("/items")).status).toBe(500);
  });
});
