import { BasePaginationStrategy, InvalidPageError, type QueryParams } from "portico/pagination";
import { expect, it } from "vitest";
import { bodyOf, books, bothWays, ids, range } from "./ways.ts";

bothWays("a strategy of one's own", (serve) => {
  it("[STR-01] [STR-02] [STR-03] [STR-04] [STR-05] [STR-06] does the paginating", async () => {
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

  it("[STR-07] gets anything but a tuple as one argument", async () => {
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

  it("[STR-08] may leave each of the three methods as inherited", async () => {
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

  it("may refuse a request with the errors of the specification", async () => {
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

  it("is told when what it gives makes no sense", async () => {
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
