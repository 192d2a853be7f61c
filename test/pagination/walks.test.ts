import * as fc from "fast-check";
import { type CursorMetadata, SyncListDataHandler } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { type Body, bodyOf, books, ids, range, serveOnce, target, thereAndBack } from "./ways.ts";

const page = (answer: Parameters<typeof bodyOf>[0]) => bodyOf<CursorMetadata>(answer);
const typeOf = (value: unknown): string => (value === null ? "null" : typeof value);
const placesOf = ({ cursor, next_cursor, prev_cursor, has_more }: CursorMetadata): string =>
  `${typeOf(cursor)} ${typeOf(next_cursor)} ${typeOf(prev_cursor)} ${has_more}`;

describe("a walk", () => {
  it("[PAG-25] by any of the three strategies returns every row once", async () => {
    const client = await serveOnce((app) =>
      app
        .get("/page_number", ({ response }) => response.paginate(books(45), { strategy: "page_number" }))
        .get("/limit_offset", ({ response }) => response.paginate(books(45), { strategy: "limit_offset" }))
        .get("/cursor", ({ response }) => response.paginate(books(45), { strategy: "cursor" })),
    );
    for (const path of ["/page_number", "/limit_offset", "/cursor"]) {
      const seen: unknown[] = [];
      for (let link: string | undefined = `http://x${path}`; link !== undefined; ) {
        const body: Body = bodyOf(await client.get(target(link)));
        seen.push(...ids(body));
        link = body.pagination.links["next"];
      }
      expect(seen).toEqual(range(1, 45));
    }
  });

  it("[PAG-03] [PAG-27] [PGS-13] [PGS-14] has the same shape on every page", async () => {
    const client = await serveOnce((app) =>
      app
        .get("/page_number", ({ response }) => response.paginate(books(45), { strategy: "page_number" }))
        .get("/limit_offset", ({ response }) => response.paginate(books(45), { strategy: "limit_offset" }))
        .get("/empty", ({ response }) => response.paginate([], { strategy: "page_number" })),
    );
    const shape = async (query: string): Promise<string[]> => {
      const { items, pagination } = bodyOf(await client.get(query));
      expect(Array.isArray(items)).toBe(true);
      return Object.entries(pagination).map(([key, value]) => `${key}: ${typeof value}`);
    };

    const pages = await shape("/page_number");
    for (const query of ["/page_number?page=2", "/page_number?page=3", "/page_number?page=9", "/empty"])
      expect(await shape(query)).toEqual(pages);
    const offsets = await shape("/limit_offset");
    for (const query of ["?offset=20", "?offset=40", "?offset=900", "?limit=0"])
      expect(await shape(`/limit_offset${query}`)).toEqual(offsets);
    expect(bodyOf(await client.get("/page_number")).pagination["total_items"]).toBe(45);
  });

  it.each([
    ["exact", 45, "number"],
    ["none", null, "null"],
    [{ capped: 10 }, 10, "number"],
  ] as const)(
    "[PAG-27] [PGS-12] [PGS-13] by cursor with totals %j has the same shape on every page",
    async (totals, total, type) => {
      let rows = books(45);
      const client = await serveOnce((app) =>
        app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", totals })),
      );
      const read = async (path: string): Promise<CursorMetadata> => page(await client.get(path)).pagination;
      const first = await read("/items");
      const middle = await read(target(first.links.next));
      const last = await read(target(middle.links.next));
      const resized = await read(`/items?cursor=${first.next_cursor}&page_size=3`);
      rows = books(20);
      const outOfRange = await read(target(middle.links.next));
      rows = [];
      const empty = await read("/items");

      expect([first.total_items, middle.total_items, last.total_items]).toEqual([total, total, total]);
      const isAt = {
        isFirst: "null string null true",
        isBetween: "string string string true",
        isLast: "string null string false",
      };
      expect([first, middle, resized, last, outOfRange, empty].map(placesOf)).toEqual([
        isAt.isFirst,
        isAt.isBetween,
        isAt.isBetween,
        isAt.isLast,
        isAt.isLast,
        "null null null false",
      ]);
      for (const metadata of [first, middle, last, resized, outOfRange, empty])
        expect(Object.entries(metadata).map(([key, value]) => `${key}: ${typeOf(value)}`)).toEqual([
          `total_items: ${type}`,
          "page_size: number",
          `cursor: ${typeOf(metadata.cursor)}`,
          `next_cursor: ${typeOf(metadata.next_cursor)}`,
          `prev_cursor: ${typeOf(metadata.prev_cursor)}`,
          "has_more: boolean",
          "links: object",
        ]);
    },
  );

  it("[PAG-26] [pagination:PG-090] over a sort column that is not unique does so too", async () => {
    const days = ["2024-01-01", "2024-01-02", "2024-01-03"];
    const rows = books(45).map((book) => ({ ...book, day: days[book.id % 3] as string }));
    const client = await serveOnce((app) =>
      app
        .get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "day" }))
        .get("/same", ({ response }) =>
          response.paginate(
            rows.map((row) => ({ ...row, day: "x" })),
            { strategy: "cursor", sortField: "day" },
          ),
        ),
    );
    for (const path of ["/items", "/same"]) {
      const seen: unknown[] = [];
      for (let link: string | undefined = `http://x${path}?page_size=7`; link !== undefined; ) {
        const body = page(await client.get(target(link)));
        seen.push(...ids(body));
        link = body.pagination.links.next;
      }
      expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(range(1, 45));
    }
  });

  it("over a list with ties and no unique key is rejected with the option to set", async () => {
    const { logCatcher } = await import("portico/testing");
    const log = logCatcher();
    const rows = [{ day: 1 }, { day: 1 }];
    const client = await serveOnce(
      (app) => app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "day" })),
      { logger: log },
    );

    expect((await client.get("/items")).status).toBe(500);
    expect(log.text).toContain("set uniqueKey");
  });

  it("[pagination:PG-092] [pagination:PG-093] [pagination:PG-094] [pagination:PG-095] [pagination:PG-097] [pagination:PG-099] continues during writes", async () => {
    let rows = books(30);
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", defaultPageSize: 10 })),
    );
    const first = page(await client.get("/items"));
    const second = page(await client.get(target(first.pagination.links.next)));

    rows = rows.filter(({ id }) => id !== 20);
    expect(ids(page(await client.get(target(second.pagination.links.next))))).toEqual(range(21, 30));
    rows = [{ id: -5, title: "before" }, ...rows, { id: 25.5, title: "after" }];
    expect(ids(page(await client.get(target(second.pagination.links.next))))).toEqual([
      ...range(21, 25),
      25.5,
      ...range(26, 29),
    ]);
    const back = page(await client.get(target(second.pagination.links.prev)));
    expect(back.items).toEqual(first.items);
    expect(ids(page(await client.get(target(back.pagination.links.prev))))).toEqual([-5]);
    rows = rows.map((row) => (row.id === 10 ? { ...row, id: 99 } : row));
    expect(ids(page(await client.get(target(first.pagination.links.next))))[0]).toBe(11);
    rows = rows.filter(({ id }) => id <= 20);
    const stranded = page(await client.get(target(second.pagination.links.next)));
    expect(stranded).toMatchObject({ items: [], pagination: { next_cursor: null } });
    expect(stranded.pagination.prev_cursor).not.toBeNull();
    expect(ids(page(await client.get(target(stranded.pagination.links.prev))))).toEqual(
      rows
        .filter(({ id }) => id < 20)
        .slice(-10)
        .map(({ id }) => id),
    );
  });

  it("[pagination:PG-114] turns around at a page that became empty without skipping the next item", async () => {
    let rows = books(30);
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", defaultPageSize: 10 })),
    );
    const second = page(await client.get(target(page(await client.get("/items")).pagination.links.next)));
    rows = books(20);
    const beyond = page(await client.get(target(second.pagination.links.next)));
    rows = books(30).filter(({ id }) => id > 10);
    const before = page(await client.get(target(second.pagination.links.prev)));

    expect([beyond.items, before.items]).toEqual([[], []]);
    expect([beyond.pagination.next_cursor, before.pagination.prev_cursor]).toEqual([null, null]);
    const first = page(await client.get(target(before.pagination.links.next)));
    expect(ids(first)).toEqual(range(11, 20));
    expect(first.pagination.prev_cursor).toBeNull();
    expect(ids(page(await client.get(target(first.pagination.links.next))))).toEqual(range(21, 30));
    rows = books(20);
    const last = page(await client.get(target(beyond.pagination.links.prev)));
    expect(ids(last)).toEqual(range(11, 20));
    expect(last.pagination.next_cursor).toBeNull();
    expect(ids(page(await client.get(target(last.pagination.links.prev))))).toEqual(range(1, 10));
    rows = [];
    expect(page(await client.get(target(beyond.pagination.links.prev)))).toMatchObject({
      items: [],
      pagination: { next_cursor: null, prev_cursor: null },
    });
  });

  const cell = fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "b", "\u{1f600}")) },
  );
  const direction = fc.constantFrom("asc" as const, "desc" as const);

  it("[pagination:PG-089] [pagination:PG-113] forward, backward and turning around returns every row once, in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ a: cell, b: cell }), { maxLength: 25 }),
        fc.array(fc.tuple(fc.constantFrom("a", "b"), direction), { minLength: 1, maxLength: 2 }),
        fc.integer({ min: 1, max: 7 }),
        async (cells, columns, size) => {
          const order = [...new Map(columns)].map(([column, way]) => [column, way] as const);
          const handler = new SyncListDataHandler(cells.map((row, id) => ({ ...row, id })));
          const client = await serveOnce((app) =>
            app.get("/items", ({ response }) =>
              response.paginate(handler, { strategy: "cursor", order, defaultPageSize: size } as never),
            ),
          );
          const whole = ids(page(await client.get("/items?page_size=100")));
          const { forward, backward } = await thereAndBack(client, "/items");
          expect(forward).toEqual(whole);
          expect(backward).toEqual(whole);
          expect(new Set(whole).size).toBe(cells.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});
