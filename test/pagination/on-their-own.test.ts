import {
  BasePaginationStrategy,
  CursorPagination,
  LimitOffsetPagination,
  PageNumberPagination,
} from "portico/pagination";
import { describe, expect, it } from "vitest";

const URL = "https://shop.example/items";

describe("strategies on their own", () => {
  it("keep the other parameters in links, in order, with all their values, except for those to omit", () => {
    const params = { q: "a b", tag: ["x", "y"], page: "2", token: "t", nothing: undefined };

    const { links } = new PageNumberPagination({ omitFromLinks: ["token"] }).generateMetadata(100, [], URL, params);

    const start = `${URL}?q=a%20b&tag=x&tag=y&`;
    expect(links).toEqual({
      first: `${start}page=1&page_size=20`,
      last: `${start}page=5&page_size=20`,
      prev: `${start}page=1&page_size=20`,
      next: `${start}page=3&page_size=20`,
    });
  });

  it("link to the next page only if the total says that there is one", () => {
    const pages = new PageNumberPagination();
    const next = (total: number | null) => pages.generateMetadata(total, [], URL, { page: "2" }).links.next;

    expect([next(null), next(40)]).toEqual([undefined, undefined]);
    expect(next(41)).toBe(`${URL}?page=3&page_size=20`);
    expect(pages.generateMetadata(null, [], URL, {})).toMatchObject({ total_items: null, total_pages: null });
  });

  it.each([
    [45, { offset: "7", limit: "0" }, { first: "limit=0&offset=0", last: "limit=0&offset=0" }],
    [3, { offset: "7", limit: "5" }, { first: "limit=5&offset=0", last: "limit=5&offset=2", prev: "limit=5&offset=0" }],
    [0, { offset: "7", limit: "5" }, { first: "limit=5&offset=0", last: "limit=5&offset=0", prev: "limit=5&offset=0" }],
    [null, { offset: "20" }, { first: "limit=20&offset=0", prev: "limit=20&offset=0" }],
    [1, { offset: "7", limit: "5" }, { first: "limit=5&offset=0", last: "limit=5&offset=0", prev: "limit=5&offset=0" }],
    [
      20,
      { offset: "7", limit: "5" },
      { first: "limit=5&offset=0", last: "limit=5&offset=17", prev: "limit=5&offset=2", next: "limit=5&offset=12" },
    ],
  ])("link from %s items at %j to pages in its steps", (total, params, links) => {
    const full = Object.fromEntries(Object.entries(links).map(([name, query]) => [name, `${URL}?${query}`]));

    expect(new LimitOffsetPagination().generateMetadata(total, [], URL, params).links).toEqual(full);
  });

  it.each([
    [{ overMax: "cut" }, 'overMax must be "clamp" or "reject"'],
    [{ overMax: "" }, 'overMax must be "clamp" or "reject"'],
    [{ outOfRange: "null" }, 'outOfRange must be "empty" or "error"'],
    [{ omitFromLinks: [1] }, "omitFromLinks must be a list of parameter names"],
    [{ omitFromLinks: "token" }, "omitFromLinks must be a list of parameter names"],
    [{ totals: null }, 'totals must be "exact", "estimated"'],
    [{ totals: { capped: 0 } }, 'totals must be "exact", "estimated"'],
    [{ totals: { capped: 1.5 } }, 'totals must be "exact", "estimated"'],
    [{ totals: Object.assign(() => {}, { capped: 1 }) }, 'totals must be "exact", "estimated"'],
  ])("reject %o", (options, message) => {
    for (const strategy of [PageNumberPagination, LimitOffsetPagination, CursorPagination])
      expect(() => new (strategy as new (options: object) => object)(options)).toThrow(`${strategy.name}.${message}`);
  });

  it("need calculateOffsetLimit if they parse something else than a page and a size", () => {
    class Own extends BasePaginationStrategy {
      override parseParameters(): unknown {
        return ["first"];
      }
    }
    const own = new Own();

    for (const parsed of [["first"], [1], ["1", 5], [1, "5"]])
      expect(() => own.calculateOffsetLimit(...(parsed as unknown as [unknown]))).toThrow(
        "Own.parseParameters does not return a page and a size: override calculateOffsetLimit as well",
      );
    expect(own.describe()).toEqual({ parameters: [], metadata: { type: "object" } });
    expect(own.positionParameter).toBe("page");
  });
});

describe("the description of a strategy", () => {
  const integer = { type: "integer" };
  const link = { type: "string", format: "uri" };
  const links = (...names: string[]) => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, link])),
    required: ["first"],
  });
  const pageSize = {
    name: "page_size",
    description: "The number of items per page.",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  };
  const metadata = (properties: Readonly<Record<string, unknown>>) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });

  it("has the parameters and the metadata of page numbers", () => {
    expect(new PageNumberPagination().describe()).toEqual({
      parameters: [
        { name: "page", description: "The page number.", schema: { type: "integer", minimum: 1, default: 1 } },
        pageSize,
      ],
      metadata: metadata({
        total_items: integer,
        total_pages: integer,
        page: integer,
        page_size: integer,
        links: links("first", "last", "prev", "next"),
      }),
    });
  });

  it("has those of limits and offsets", () => {
    expect(new LimitOffsetPagination({ totals: "none", maxLimit: 50 }).describe()).toEqual({
      parameters: [
        {
          name: "limit",
          description: "The maximum number of items to return.",
          schema: { type: "integer", minimum: 0, maximum: 50, default: 20 },
        },
        {
          name: "offset",
          description: "The number of items to skip.",
          schema: { type: "integer", minimum: 0, default: 0 },
        },
      ],
      metadata: metadata({
        total_items: { type: ["integer", "null"] },
        limit: integer,
        offset: integer,
        current_page: integer,
        total_pages: { type: ["integer", "null"] },
        links: links("first", "last", "prev", "next"),
      }),
    });
  });

  it("has those of cursors, and the columns that can be sorted by", () => {
    const cursor = { type: ["string", "null"] };

    expect(new CursorPagination({ sortable: ["id", "title"], totals: { capped: 500 } }).describe()).toEqual({
      parameters: [
        {
          name: "cursor",
          description:
            "The next_cursor or prev_cursor of another page, or the cursor in its links. Omit it for the first page.",
          schema: { type: "string", maxLength: 2048 },
        },
        pageSize,
        {
          name: "sort",
          description:
            "The names to sort by. Prefix a name with - for descending order. Omit it for the default order.",
          schema: {
            type: "array",
            items: { type: "string", enum: ["id", "-id", "title", "-title"] },
            minItems: 1,
            maxItems: 2,
          },
        },
      ],
      metadata: metadata({
        total_items: {
          type: "integer",
          maximum: 500,
          description: "Counted up to 500; the real total may be higher.",
        },
        page_size: integer,
        cursor,
        next_cursor: cursor,
        prev_cursor: cursor,
        has_more: { type: "boolean" },
        links: links("first", "last", "prev", "next"),
      }),
    });
  });
});
