import { LimitOffsetPagination, SyncDataHandler } from "portico/pagination";
import { describe, expect, it, vi } from "vitest";
import { bodyOf, books, bothWays, ids, queryOf, range, serveOnce } from "./ways.ts";

bothWays("limit_offset", (serve) => {
  const hundred = () =>
    serve((app) => app.get("/items", ({ response }) => response.paginate(books(100), { strategy: "limit_offset" })));

  it("[PAG-21] [PGS-11] [pagination:PG-052] returns items N + 1 to N + L, and its metadata", async () => {
    const client = await hundred();

    const { items, pagination } = bodyOf(await client.get("/items?limit=15&offset=30"));

    expect(ids({ items })).toEqual(range(31, 45));
    expect(Object.keys(pagination)).toEqual(["total_items", "limit", "offset", "current_page", "total_pages", "links"]);
    expect(pagination).toMatchObject({ total_items: 100, limit: 15, offset: 30, current_page: 3, total_pages: 7 });
    expect(queryOf(pagination.links["prev"])).toEqual({ limit: "15", offset: "15" });
    expect(queryOf(pagination.links["next"])).toEqual({ limit: "15", offset: "45" });
    expect(ids(bodyOf(await client.get("/items?offset=10&limit=5")))).toEqual(range(11, 15));
  });

  it("[PAG-11] [PAG-12] [PAG-13] [PAG-14] [pagination:PG-056] supports its options", async () => {
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.paginate(books(200), { strategy: "limit_offset" }))
        .get("/named", ({ response }) =>
          response.paginate(books(100), {
            strategy: "limit_offset",
            limitParam: "l",
            offsetParam: "o",
            defaultLimit: 5,
            maxLimit: 10,
          }),
        ),
    );

    expect(ids(bodyOf(await client.get("/items")))).toEqual(range(1, 20));
    expect(ids(bodyOf(await client.get("/items?limit=5&offset=5")))).toEqual(range(6, 10));
    expect(bodyOf(await client.get("/items?limit=1000"))).toMatchObject({ pagination: { limit: 100 } });
    expect(ids(bodyOf(await client.get("/named?o=5")))).toEqual(range(6, 10));
    expect(ids(bodyOf(await client.get("/named?l=11")))).toEqual(range(1, 10));
  });

  it.each([
    ["[ERR-30] [pagination:PG-053]", "offset=-1", "invalid_page"],
    ["[ERR-32] [pagination:PG-054]", "limit=-1", "invalid_page_size"],
    ["[pagination:PG-061]", "offset=9007199254740991&limit=100", "invalid_page"],
    ["[pagination:PG-062]", "offset=1e3", "invalid_page"],
    ["[pagination:PG-062]", "offset=%D9%A3", "invalid_page"],
    ["[pagination:PG-062]", "offset=", "invalid_page"],
    ["[pagination:PG-062]", "offset=1.5", "invalid_page"],
    ["[PAG-29] [pagination:PG-062]", "offset=1&offset=2", "invalid_page"],
  ])("%s rejects ?%s", async (_ids, query, code) => {
    const client = await hundred();

    expect((await client.get(`/items?${query}`)).json()).toMatchObject({ status: 400, code });
  });

  it("[pagination:PG-057] [pagination:PG-058] [pagination:PG-059] [pagination:PG-063] [pagination:PG-064] links windows that do not overlap", async () => {
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.paginate(books(100), { strategy: "limit_offset" }))
        .get("/none", ({ response }) => response.paginate([], { strategy: "limit_offset" })),
    );
    const links = async (query: string): Promise<Record<string, string>> =>
      bodyOf(await client.get(query)).pagination.links;

    expect(queryOf((await links("/items?offset=5&limit=10"))["prev"])).toEqual({ limit: "5", offset: "0" });
    expect(queryOf((await links("/items?offset=100"))["prev"])).toMatchObject({ offset: "80" });
    expect(queryOf((await links("/items?offset=101"))["prev"])).toMatchObject({ offset: "80" });
    expect(queryOf((await links("/items?offset=5000"))["prev"])).toMatchObject({ offset: "80" });
    expect(queryOf((await links("/items?offset=7"))["last"])).toMatchObject({ offset: "87" });
    const none = await links("/none");
    expect(Object.keys(none).toSorted()).toEqual(["first", "last"]);
    expect(queryOf(none["last"])).toMatchObject({ offset: "0" });
    expect(none["last"]).toBe(none["first"]);
  });
});

describe("limit=0", () => {
  it("[PAG-34] [pagination:PG-055] returns nothing and reads no row", async () => {
    const getItems = vi.fn<() => never[]>(() => []);
    class Counted extends SyncDataHandler<never> {
      getTotalItems(): number {
        return 100;
      }
      getItems = getItems;
    }
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.paginate(new Counted(), { strategy: "limit_offset" })),
    );

    const answer = await client.get("/items?limit=0");

    const { items, pagination } = bodyOf(answer);
    expect([answer.status, items]).toEqual([200, []]);
    expect(pagination).toMatchObject({ total_items: 100, limit: 0, current_page: 1, total_pages: 0 });
    expect(Object.keys(pagination.links).toSorted()).toEqual(["first", "last"]);
    expect(getItems).not.toHaveBeenCalled();
  });

  it("can be the default", () => {
    expect(() => new LimitOffsetPagination({ defaultLimit: 0 })).not.toThrow();
    expect(() => new LimitOffsetPagination({ maxLimit: 0 })).toThrow("LimitOffsetPagination.maxLimit");
  });
});
