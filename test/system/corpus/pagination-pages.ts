import { expect } from "vitest";
import type { Answer, Rows } from "./answer.ts";
import { idsOf, type PagedShop, page } from "./paged-shop.ts";

const PAGE = "400 invalid_page";
const SIZE = "400 invalid_page_size";

/** Expects that all of these are rejected alike, with the parameter's name and a short message. */
async function refuse(
  list: (query: string) => Promise<Answer>,
  verdict: string,
  parameter: string,
  ...queries: readonly string[]
) {
  for (const query of queries) {
    const answer = await list(query);
    expect([query, answer.verdict, answer.said.parameter]).toEqual([query, verdict, parameter]);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(answer.text.length).toBeLessThan(1_000);
  }
}
const url = (query: string): string => `http://shop.example/books?${query}`;

/** A. page_number: 100 books, /books */
export function pageNumbers(shop: PagedShop): Rows {
  const { send } = shop;
  const books = (query: string): Promise<Answer> => send(`/books?${query}`);
  const noPage = (...queries: readonly string[]) => refuse(books, PAGE, "page", ...queries);
  const noSize = (...queries: readonly string[]) => refuse(books, SIZE, "page_size", ...queries);
  return {
    async "PG-001 no parameters"() {
      const answer = await books("");
      expect([answer.said.items?.length, page(answer)]).toMatchObject([
        20,
        { page: 1, total_items: 100, total_pages: 5 },
      ]);
      expect(Object.keys(page(answer).links).toSorted()).toEqual(["first", "last", "next"]);
    },
    async "PG-002 page=1 is the same"() {
      const [none, one] = [await books(""), await books("page=1")];
      expect([one.said.items, page(one).links.next]).toEqual([none.said.items, page(none).links.next]);
    },
    "PG-003 page=0": () => noPage("page=0"),
    "PG-004 page=-1": () => noPage("page=-1"),
    "PG-005 page=-0": () => noPage("page=-0"),
    "PG-006 page=1.5": () => noPage("page=1.5"),
    "PG-007 page=1.0": () => noPage("page=1.0"),
    "PG-008 page=1e3": () => noPage("page=1e3"),
    "PG-009 page=0x10": () => noPage("page=0x10"),
    "PG-010 page=abc": () => noPage("page=abc"),
    async "PG-011 an empty page"() {
      await noPage("page=");
      expect((await books("page=")).said.detail).toContain("empty");
    },
    "PG-012 a page without a sign": () => noPage("page"),
    "PG-013 blanks around a number": () => noPage("page=%20", "page=%202%20", "page=2%0A"),
    "PG-014 a plus sign": () => noPage("page=+2", "page=%2B2"),
    "PG-015 page=1_0": () => noPage("page=1_0"),
    "PG-016 other digits": () => noPage("page=%D9%A3", "page=%EF%BC%92"),
    "PG-017 leading zeros": () => noPage("page=01", "page=0001"),
    async "PG-018 a page far beyond the end is empty"() {
      expect((await books("page=1000000000")).said.items).toEqual([]);
    },
    async "PG-019 the page after the last is empty and leads back"() {
      const answer = await books("page=6");
      expect([answer.said.items, page(answer)]).toMatchObject([[], { page: 6, total_items: 100 }]);
      expect([page(answer).links.prev, page(answer).links.next]).toEqual([url("page=5&page_size=20"), undefined]);
    },
    "PG-020 2^53 + 1": () => noPage("page=9007199254740993"),
    "PG-021 26 digits": () => noPage("page=99999999999999999999999999"),
    "PG-022 a product that is unsafe": () => noPage("page=9007199254740991&page_size=100"),
    "PG-023 words": () => noPage("page=NaN", "page=Infinity", "page=null", "page=undefined", "page=true"),
    "PG-024 a page that is given twice": () => noPage("page=1&page=2"),
    async "PG-025 page[] is another name"() {
      for (const query of ["page[]=2", "page[a]=2"]) expect(page(await books(query)).page).toBe(1);
    },
    "PG-026 NUL": () => noPage("page=2%00"),
    async "PG-027 10 kB of digits"() {
      await noPage(`page=${"1".repeat(10_000)}`);
      await noSize(`page_size=${"1".repeat(10_000)}`);
    },
    async "PG-028 PAGE is another name"() {
      expect(page(await books("PAGE=2")).page).toBe(1);
    },
    "PG-029 a semicolon": () => noPage("page=2;page_size=5"),
    async "PG-030 names of prototypes are kept as names"() {
      const answer = await books("__proto__=1&constructor=1&page=2");
      expect([answer.verdict, page(answer).links.next]).toEqual([
        "200",
        expect.stringMatching(/__proto__=1&constructor=1/),
      ]);
    },
    "PG-031 page_size=0": () => noSize("page_size=0"),
    "PG-032 page_size=-5": () => noSize("page_size=-5"),
    async "PG-033 a size over the maximum is clamped"() {
      const answer = await books("page_size=101");
      expect([answer.said.items?.length, page(answer).page_size, page(answer).links.last]).toEqual([
        100,
        100,
        expect.stringContaining("page_size=100"),
      ]);
    },
    async "PG-034 a size beyond all numbers is clamped"() {
      for (const size of ["9007199254740993", "9".repeat(30)])
        expect(page(await books(`page_size=${size}`)).page_size).toBe(100);
    },
    "PG-035 invalid sizes": () => noSize("page_size=abc", "page_size=", "page_size=1.5", "page_size=1&page_size=2"),
    async "PG-036 an empty list"() {
      const answer = await books("genre=history");
      expect([answer.said.items, page(answer)]).toMatchObject([[], { total_items: 0, total_pages: 0, page: 1 }]);
      const { first, last, next, prev } = page(answer).links;
      expect([first === last, first, next, prev]).toEqual([
        true,
        expect.stringContaining("page=1"),
        undefined,
        undefined,
      ]);
    },
    async "PG-037 page 7 of an empty list"() {
      const answer = await books("genre=history&page=7");
      expect([answer.said.items, page(answer).links.next, page(answer).links.prev]).toEqual([
        [],
        undefined,
        expect.stringContaining("page=1"),
      ]);
    },
    async "PG-038 as many as a page takes"() {
      const answer = await books("genre=poetry&page_size=25");
      expect([answer.said.items?.length, page(answer).total_pages, page(answer).links.next]).toEqual([
        25,
        1,
        undefined,
      ]);
      expect(page(await send("/books/newest?genre=poetry&page_size=25")).has_more).toBe(false);
    },
    async "PG-039 one more than a page takes"() {
      const answer = await books("genre=poetry&page_size=24&page=2");
      expect([answer.said.items?.length, page(answer).links.next]).toEqual([1, undefined]);
    },
    async "PG-044 links keep the rest of the query"() {
      const { next } = page(await books("q=a%20b&tag=x&tag=y&page=2")).links;
      const params = new URL(next ?? "").searchParams;
      expect([params.get("q"), params.getAll("tag"), params.get("page")]).toEqual(["a b", ["x", "y"], "3"]);
      expect(next).not.toContain("%25");
    },
    async "PG-045 every name stays by default"() {
      expect(page(await books("access_token=abc")).links.next).toContain("access_token=abc");
    },
    async "PG-046 links are absolute"() {
      expect(page(await books("page=2")).links.next).toBe(url("page=3&page_size=20"));
    },
    async "PG-047 a Host that is made up has no effect"() {
      const answer = await send("/books?page=2", { headers: [["host", "evil.example"]] });
      expect(page(answer).links.next).toBe(url("page=3&page_size=20"));
    },
    async "PG-048 X-Forwarded-Host is ignored"() {
      for (const host of ["a, evil.example", "evil.example x"])
        expect(page(await send("/books?page=2", { headers: [["x-forwarded-host", host]] })).links.next).toBe(
          url("page=3&page_size=20"),
        );
    },
    async "PG-050 HEAD has the links and no body"() {
      const [asGet, head] = [await books("page=2"), await send("/books?page=2", { method: "HEAD" })];
      expect([head.status, head.text, head.headers["link"]]).toEqual([200, "", asGet.headers["link"]]);
    },
  };
}

const offsetIn = (link: string | undefined): (string | null)[] => {
  const params = new URL(link ?? "http://none.example").searchParams;
  return [params.get("offset"), params.get("limit")];
};

/** B. limit_offset: 100 books, /books/stock, at most 200 at once */
export function offsets(shop: PagedShop): Rows {
  const stock = async (query: string): Promise<Answer> =>
    shop.send(`/books/stock?${query}`, { headers: [await shop.as("staff")] });
  return {
    async "PG-052 a window"() {
      const all = idsOf(await stock("limit=100"));
      const answer = await stock("limit=15&offset=30");
      expect([all.length, idsOf(answer)]).toEqual([100, all.slice(30, 45)]);
      expect([offsetIn(page(answer).links.prev), offsetIn(page(answer).links.next)]).toEqual([
        ["15", "15"],
        ["45", "15"],
      ]);
    },
    "PG-053 offset=-1": () => refuse(stock, PAGE, "offset", "offset=-1"),
    "PG-054 limit=-1": () => refuse(stock, SIZE, "limit", "limit=-1"),
    async "PG-055 limit=0"() {
      const answer = await stock("limit=0");
      expect([answer.said.items, page(answer)]).toMatchObject([
        [],
        { current_page: 1, total_pages: 0, total_items: 100 },
      ]);
      expect([page(answer).links.next, page(answer).links.prev]).toEqual([undefined, undefined]);
    },
    async "PG-056 a limit over the maximum is clamped"() {
      expect(page(await stock("limit=1000")).limit).toBe(200);
    },
    async "PG-057 the window before does not overlap"() {
      expect(offsetIn(page(await stock("offset=5&limit=10")).links.prev)).toEqual(["0", "5"]);
    },
    async "PG-058 the end of the list"() {
      const answer = await stock("offset=100&limit=20");
      expect([answer.said.items, offsetIn(page(answer).links.prev)]).toEqual([[], ["80", "20"]]);
    },
    async "PG-059 beyond the end"() {
      for (const offset of [101, 5_000]) {
        const answer = await stock(`offset=${offset}&limit=20`);
        expect([answer.said.items, offsetIn(page(answer).links.prev)]).toEqual([[], ["80", "20"]]);
      }
    },
    "PG-061 a sum that is unsafe": () => refuse(stock, PAGE, "offset", "offset=9007199254740991&limit=100"),
    "PG-062 invalid offsets": () =>
      refuse(stock, PAGE, "offset", "offset=1e3", "offset=%D9%A3", "offset=", "offset=1.5", "offset=1&offset=2"),
    async "PG-063 an offset between pages"() {
      const answer = await stock("offset=7&limit=20");
      expect([offsetIn(page(answer).links.last), page(answer).current_page]).toEqual([["87", "20"], 1]);
    },
  };
}
