import { PageNumberPagination } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { bodyOf, books, bothWays, ids, queryOf, range, serveOnce, target } from "./ways.ts";

bothWays("page_number", (serve) => {
  const hundred = () => serve((app) => app.get("/items", ({ response }) => response.paginate(books(100))));
  const many = (count: number) => serve((app) => app.get("/items", ({ response }) => response.paginate(books(count))));

  it("[PAG-01] [PAG-05] [PGS-01] [PGS-02] [PGS-03] [PGS-04] [PGS-05] returns items and metadata by default", async () => {
    const client = await many(45);

    const body = bodyOf(await client.get("/items?page=2&page_size=20"));
    const bare = bodyOf(await client.get("/items"));

    expect(ids(body)).toEqual(range(21, 40));
    expect(body.pagination).toMatchObject({ total_items: 45, total_pages: 3, page: 2, page_size: 20 });
    expect(bare.pagination["page_size"]).toBe(20);
    expect(bodyOf(await client.get("/items?page_size=7")).pagination["page_size"]).toBe(7);
  });

  it("[PGS-06] [PGS-07] [PGS-08] [PGS-10] links next, first, last, and prev from page 2 on", async () => {
    const client = await many(45);
    const first = bodyOf(await client.get("/items"));

    const second = bodyOf(await client.get(target(first.pagination.links["next"])));

    expect(second.pagination["page"]).toBe(2);
    expect(bodyOf(await client.get(target(second.pagination.links["first"]))).pagination["page"]).toBe(1);
    expect(bodyOf(await client.get(target(first.pagination.links["last"]))).pagination["page"]).toBe(3);
    expect(first.pagination.links).not.toHaveProperty("prev");
    expect(queryOf(second.pagination.links["prev"])).toEqual({ page: "1", page_size: "20" });
  });

  it("[pagination:PG-001] [pagination:PG-002] [pagination:PG-046] without parameters is page 1, with explicit links", async () => {
    const client = await hundred();

    const bare = await client.get("/items", { headers: { host: "api.example" } });
    const first = await client.get("/items?page=1", { headers: { host: "api.example" } });
    const second = bodyOf(await client.get("/items?page=2", { headers: { host: "api.example" } }));

    expect(bare.json()).toEqual(first.json());
    expect(ids(bodyOf(bare))).toEqual(range(1, 20));
    expect(Object.keys(bodyOf(bare).pagination.links).toSorted()).toEqual(["first", "last", "next"]);
    expect(second.pagination.links["next"]).toBe("http://api.example/items?page=3&page_size=20");
  });

  it("[PAG-06] [PAG-07] [PAG-08] [PAG-09] [PAG-10] supports its options", async () => {
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.paginate(books(150)))
        .get("/named", ({ response }) => response.paginate(books(100), { pageParam: "p", pageSizeParam: "s" }))
        .get("/sized", ({ response }) =>
          response.paginate(books(100), {
            strategy: "page_number",
            defaultPage: 2,
            defaultPageSize: 5,
            maxPageSize: 10,
          }),
        ),
    );

    expect(ids(bodyOf(await client.get("/named?p=2&s=5")))).toEqual(range(6, 10));
    expect(ids(bodyOf(await client.get("/sized")))).toEqual(range(6, 10));
    expect(ids(bodyOf(await client.get("/sized?page=1&page_size=101")))).toEqual(range(1, 10));
    expect(ids(bodyOf(await client.get("/items")))).toEqual(range(1, 20));
    expect(ids(bodyOf(await client.get("/items?page_size=100")))).toEqual(range(1, 100));
    expect(ids(bodyOf(await client.get("/items?page_size=101")))).toEqual(range(1, 100));
  });

  it("[PAG-22] returns items (P - 1) * S + 1 to P * S", async () => {
    const client = await hundred();

    expect(ids(bodyOf(await client.get("/items?page=3&page_size=5")))).toEqual(range(11, 15));
  });

  it.each([
    ["[ERR-29] [PAG-28] [pagination:PG-003]", "page=0"],
    ["[ERR-29] [PAG-28] [pagination:PG-004]", "page=-1"],
    ["[pagination:PG-005]", "page=-0"],
    ["[pagination:PG-006]", "page=1.5"],
    ["[pagination:PG-007]", "page=1.0"],
    ["[PAG-28] [pagination:PG-008]", "page=1e3"],
    ["[pagination:PG-009]", "page=0x10"],
    ["[pagination:PG-010]", "page=abc"],
    ["[pagination:PG-011]", "page="],
    ["[pagination:PG-012]", "page"],
    ["[pagination:PG-013]", "page=%20"],
    ["[pagination:PG-013]", "page=%202%20"],
    ["[pagination:PG-013]", "page=2%0A"],
    ["[pagination:PG-014]", "page=+2"],
    ["[PAG-28] [pagination:PG-014]", "page=%2B2"],
    ["[pagination:PG-015]", "page=1_0"],
    ["[PAG-28] [pagination:PG-016]", "page=%D9%A3"],
    ["[pagination:PG-016]", "page=%EF%BC%92"],
    ["[PAG-28] [pagination:PG-017]", "page=01"],
    ["[pagination:PG-017]", "page=0001"],
    ["[pagination:PG-020]", "page=9007199254740993"],
    ["[pagination:PG-021]", "page=99999999999999999999999999"],
    ["[pagination:PG-022]", "page=9007199254740991&page_size=100"],
    ["[pagination:PG-023]", "page=NaN"],
    ["[pagination:PG-023]", "page=Infinity"],
    ["[pagination:PG-023]", "page=null"],
    ["[pagination:PG-023]", "page=undefined"],
    ["[pagination:PG-023]", "page=true"],
    ["[PAG-29] [pagination:PG-024]", "page=1&page=2"],
    ["[pagination:PG-026]", "page=2%00"],
    ["[pagination:PG-027]", `page=${"9".repeat(10_000)}`],
    ["[pagination:PG-029]", "page=2;page_size=5"],
  ])("%s rejects ?%s", async (_ids, query) => {
    const client = await hundred();

    const answer = await client.get(`/items?${query}`);

    expect(answer.status).toBe(400);
    expect(answer.headers["content-type"]).toMatch("application/problem+json");
    expect(answer.json()).toMatchObject({ code: "invalid_page", parameter: "page", title: "Bad Request", status: 400 });
    expect(answer.text().length).toBeLessThan(300);
  });

  it.each([
    ["[ERR-31] [pagination:PG-031]", "page_size=0"],
    ["[ERR-31] [pagination:PG-032]", "page_size=-5"],
    ["[pagination:PG-035]", "page_size=abc"],
    ["[pagination:PG-035]", "page_size="],
    ["[pagination:PG-035]", "page_size=1.5"],
    ["[pagination:PG-035]", "page_size=1&page_size=2"],
    ["[pagination:PG-027]", `page_size=${"9".repeat(10_000)}`],
  ])("%s rejects ?%s", async (_ids, query) => {
    const client = await hundred();

    const answer = await client.get(`/items?${query}`);

    expect(answer.json()).toMatchObject({ status: 400, code: "invalid_page_size", parameter: "page_size" });
  });

  it("[pagination:PG-011] [pagination:PG-012] reports an empty parameter", async () => {
    const client = await hundred();

    for (const query of ["page=", "page"])
      expect((await client.get(`/items?${query}`)).json()).toMatchObject({ detail: expect.stringMatching("is empty") });
  });

  it("[pagination:PG-024] reports a repeated parameter", async () => {
    const client = await hundred();

    expect((await client.get("/items?page=1&page=2")).json()).toMatchObject({
      detail: "page was given more than once",
    });
  });

  it("[pagination:PG-025] [pagination:PG-028] [pagination:PG-030] ignores unknown parameters", async () => {
    const client = await hundred();

    for (const query of ["page[]=2", "page[a]=2", "PAGE=2", "constructor=1"])
      expect(bodyOf(await client.get(`/items?${query}`)).pagination["page"]).toBe(1);
    const proto = bodyOf(await client.get("/items?__proto__=1&page=2"));

    expect(proto.pagination["page"]).toBe(2);
    expect(proto.pagination.links["next"]).toContain("__proto__=1");
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });

  it("[PAG-30] [PAG-31] [pagination:PG-033] [pagination:PG-034] clamps or rejects a size over the maximum", async () => {
    const client = await serve((app) =>
      app
        .get("/clamped", ({ response }) => response.paginate(books(150)))
        .get("/strict", ({ response }) => response.paginate(books(150), { overMax: "reject" })),
    );

    expect(bodyOf(await client.get("/strict?page_size=100")).items).toHaveLength(100);
    for (const size of ["101", "9007199254740993", "9".repeat(30)]) {
      const body = bodyOf(await client.get(`/clamped?page_size=${size}`));
      expect(body.items).toHaveLength(100);
      expect(body.pagination["page_size"]).toBe(100);
      expect(queryOf(body.pagination.links["next"])["page_size"]).toBe("100");
      expect((await client.get(`/strict?page_size=${size}`)).json()).toMatchObject({ code: "invalid_page_size" });
    }
  });

  it("[PAG-32] [PAG-33] [pagination:PG-018] [pagination:PG-019] returns an empty page or an error after the last page", async () => {
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.paginate(books(100)))
        .get("/strict", ({ response }) => response.paginate(books(100), { outOfRange: "error" })),
    );

    const beyond = bodyOf(await client.get("/items?page=6"));
    const far = await client.get("/items?page=1000000000");

    expect(beyond.items).toEqual([]);
    expect(beyond.pagination).toMatchObject({ page: 6, total_items: 100, total_pages: 5 });
    expect(queryOf(beyond.pagination.links["prev"])["page"]).toBe("5");
    expect(beyond.pagination.links).not.toHaveProperty("next");
    expect(far.status).toBe(200);
    expect((await client.get("/strict?page=6")).json()).toMatchObject({ status: 400, code: "invalid_page" });
    expect((await client.get("/strict?page=5")).status).toBe(200);
  });

  it("[pagination:PG-036] [pagination:PG-037] has one empty page for an empty list", async () => {
    const client = await many(0);

    const { items, pagination } = bodyOf(await client.get("/items"));
    const seventh = bodyOf(await client.get("/items?page=7")).pagination.links;

    expect(items).toEqual([]);
    expect(pagination).toMatchObject({ total_items: 0, total_pages: 0, page: 1 });
    expect(Object.keys(pagination.links).toSorted()).toEqual(["first", "last"]);
    expect(queryOf(pagination.links["last"])["page"]).toBe("1");
    expect(queryOf(seventh["prev"])["page"]).toBe("1");
    expect(seventh).not.toHaveProperty("next");
  });

  it("[pagination:PG-038] [pagination:PG-039] finds the end of the last page", async () => {
    const exact = await many(20);
    const onMore = await many(21);

    expect(bodyOf(await exact.get("/items")).pagination.links).not.toHaveProperty("next");
    const second = bodyOf(await onMore.get("/items?page=2"));
    expect(second.items).toHaveLength(1);
    expect(second.pagination.links).not.toHaveProperty("next");
  });

  it("[pagination:PG-050] [pagination:PG-051] sends the same headers for HEAD, and treats POST like GET", async () => {
    const client = await serve((app) => {
      app.get("/items", ({ response }) => response.paginate(books(45)));
      app.post("/items", ({ response }) => response.paginate(books(45)));
    });

    const got = await client.get("/items?page=2");
    const head = await client.request("HEAD", "/items?page=2");
    const posted = await client.post("/items?page=2");

    expect(head.headers["link"]).toBe(got.headers["link"]);
    expect(head.text()).toBe("");
    expect(posted.json()).toEqual(got.json());
  });
});

describe("PageNumberPagination", () => {
  it("[PAG-04] can be used as an instance", async () => {
    const pages = new PageNumberPagination({ defaultPageSize: 7 });
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.paginate(books(45), { strategy: pages })),
    );

    expect(ids(bodyOf(await client.get("/items")))).toEqual(range(1, 7));
  });

  it("[PGS-23] [pagination:PG-122] always counts: totals none is rejected, exact is the default", () => {
    expect(() => new PageNumberPagination({ totals: "none" as never })).toThrow(
      'PageNumberPagination.totals must be "exact"',
    );
    expect(new PageNumberPagination().totals).toBe("exact");
  });

  it.each([
    [{ pageParam: "" }, "PageNumberPagination.pageParam"],
    [{ defaultPage: 0 }, "PageNumberPagination.defaultPage"],
    [{ maxPageSize: 0 }, "PageNumberPagination.maxPageSize"],
    [{ defaultPageSize: 200 }, "PageNumberPagination.defaultPageSize must be at most the maximum of 100"],
    [{ overMax: "drop" }, "PageNumberPagination.overMax"],
    [{ totals: { capped: 0 } }, "PageNumberPagination.totals"],
    [{ maxPagesize: 5 }, 'Did you mean "maxPageSize"?'],
  ])("rejects %j when it is declared", (options, message) => {
    expect(() => new PageNumberPagination(options as never)).toThrow(message);
  });

  it("rejects a number that a nested query parser turned into an object", () => {
    const parse = (): unknown => new PageNumberPagination().parseParameters({ page: { a: "2" } as never });

    expect(parse).toThrow("page must be a single value");
  });
});
