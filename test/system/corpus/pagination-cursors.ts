import { expect } from "vitest";
import type { Answer, Rows } from "./answer.ts";
import { idsOf, type PagedShop, page, walk } from "./paged-shop.ts";

const WRONG = "400 invalid_cursor";
const MISMATCH = "400 cursor_mismatch";
const encoded = (cursor: string | null | undefined): string => encodeURIComponent(cursor ?? "");

/** C. cursor: /books/newest */
export function cursors(shop: PagedShop): Rows {
  const { send, as } = shop;
  const newest = (query: string): Promise<Answer> => send(`/books/newest?${query}`);
  const cursorOf = async (query = "page_size=10"): Promise<string> => page(await newest(query)).next_cursor ?? "";
  const refuse = async (...wrong: readonly string[]): Promise<void> => {
    for (const cursor of wrong)
      expect([cursor, (await newest(`cursor=${encodeURIComponent(cursor)}`)).verdict]).toEqual([cursor, WRONG]);
  };
  return {
    async "PG-065 no cursor"() {
      const answer = await newest("");
      expect(page(answer)).toMatchObject({ prev_cursor: null, next_cursor: expect.any(String), has_more: true });
    },
    "PG-066 an empty cursor": () => refuse(""),
    async "PG-067 what comes after the key"() {
      const all = idsOf(await newest("page_size=100"));
      expect(idsOf(await newest(`page_size=10&cursor=${await cursorOf()}`))).toEqual(all.slice(10, 20));
    },
    async "PG-068 the last page"() {
      const last = (await walk(shop, "/books/newest?page_size=30")).at(-1);
      expect(last?.said.pagination).toMatchObject({ next_cursor: null, has_more: false });
    },
    async "PG-069 a cursor that is cut"() {
      const cursor = await cursorOf();
      await refuse(cursor.slice(0, -1), cursor.slice(0, cursor.length / 2), cursor.slice(0, 1));
    },
    async "PG-070 a cursor with one character changed"() {
      const cursor = await cursorOf();
      const changed = Array.from(
        cursor,
        (character, i) => `${cursor.slice(0, i)}${character === "A" ? "B" : "A"}${cursor.slice(i + 1)}`,
      );
      for (const wrong of changed) expect((await newest(`cursor=${wrong}`)).status, wrong).toBe(400);
    },
    async "PG-071 a bit of the MAC"() {
      const bytes = Buffer.from(await cursorOf(), "base64url");
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      await refuse(bytes.toString("base64url"));
    },
    async "PG-072 standard base64"() {
      await refuse(`${await cursorOf()}+/==`, ` ${await cursorOf()}`);
    },
    async "PG-073 padding, line breaks, marks"() {
      const cursor = await cursorOf();
      await refuse(`${cursor}=`, `${cursor}\r\n`, `\uFEFF${cursor}`, `%41${cursor}`);
    },
    async "PG-074 a cursor that is made by hand"() {
      await refuse(Buffer.from('{"id":20}').toString("base64url"));
    },
    async "PG-075 a cursor of another list"() {
      const headers = [await as("reader2")];
      await shop.order("reader2", "book-11", "book-12");
      const orders = await send("/orders?page_size=1", { headers });
      expect((await newest(`cursor=${encoded(page(orders).next_cursor)}`)).verdict).toBe(MISMATCH);
    },
    async "PG-077 a cursor of another filter"() {
      const cursor = await cursorOf("genre=poetry&page_size=5");
      expect((await newest(`genre=novel&cursor=${cursor}`)).verdict).toBe(MISMATCH);
      expect((await newest(`genre=poetry&other=1&cursor=${cursor}`)).verdict).toBe("200");
    },
    async "PG-078 another size"() {
      expect((await newest(`page_size=7&cursor=${await cursorOf()}`)).said.items).toHaveLength(7);
    },
    async "PG-079 a cursor of another user"() {
      const mine = await send("/orders?page_size=1", { headers: [await as("reader2")] });
      const theirs = await send(`/orders?cursor=${encoded(page(mine).next_cursor)}`, {
        headers: [await as("reader1")],
      });
      expect(theirs.verdict).toBe(MISMATCH);
    },
    async "PG-080 an unknown format"() {
      const bytes = Buffer.from(await cursorOf(), "base64url");
      bytes[0] = 99;
      expect((await newest(`cursor=${bytes.toString("base64url")}`)).verdict).toBe("400 cursor_version");
    },
    async "PG-083 a cursor of 3 kB, and of 1 MB"() {
      await refuse("A".repeat(3_000));
      expect((await newest(`cursor=${"A".repeat(1024 ** 2)}`)).status).toBe(431);
    },
    async "PG-087 microseconds"() {
      const ids = idsOf(...(await walk(shop, "/books/newest?page_size=1&genre=poetry")));
      expect([(await shop.countFineTimes()) > 0, ids.length, new Set(ids).size]).toEqual([true, 25, 25]);
    },
    async "PG-090 one value in the whole column"() {
      const ids = idsOf(...(await walk(shop, "/books/newest?genre=children&page_size=3")));
      expect([ids.length, new Set(ids).size]).toEqual([25, 25]);
    },
    async "PG-096 next, next, prev"() {
      const one = await newest("page_size=10");
      const two = await newest(`page_size=10&cursor=${encoded(page(one).next_cursor)}`);
      const three = await newest(`page_size=10&cursor=${encoded(page(two).next_cursor)}`);
      const back = await newest(`page_size=10&cursor=${encoded(page(three).prev_cursor)}`);
      expect(idsOf(back)).toEqual(idsOf(two));
    },
    async "PG-098 prev where fewer precede"() {
      const two = await newest(`page_size=10&cursor=${await cursorOf("page_size=5")}`);
      const back = await newest(`page_size=10&cursor=${encoded(page(two).prev_cursor)}`);
      expect([back.said.items?.length, page(back).prev_cursor, page(back).has_more]).toEqual([5, null, true]);
    },
    async "PG-102 two cursors"() {
      expect((await newest("cursor=a&cursor=b")).verdict).toBe(WRONG);
    },
    async "PG-103 a cursor and a page"() {
      const answer = await newest(`page_size=10&page=4&cursor=${await cursorOf()}`);
      expect([answer.verdict, page(answer).links.next]).toEqual(["200", expect.stringContaining("page=4")]);
    },
  };
}

/** C. cursor, while the novels change */
export function changes(shop: PagedShop): Rows {
  const novels = (cursor?: string | null): Promise<Answer> =>
    shop.send(`/books/newest?genre=novel&page_size=5${cursor ? `&cursor=${encoded(cursor)}` : ""}`);
  const allNovels = async (): Promise<string[]> =>
    idsOf(...(await walk(shop, "/books/newest?genre=novel&page_size=50")));
  return {
    async "PG-092 the row of the cursor is deleted"() {
      const all = await allNovels();
      const one = await novels();
      await shop.remove(all.slice(4, 5));
      expect(idsOf(await novels(page(one).next_cursor))).toEqual(all.slice(5, 10));
    },
    async "PG-093 the row of the cursor moves"() {
      const all = await allNovels();
      const one = await novels();
      await shop.move(all[4] ?? "", "2019-01-01 00:00:00");
      expect(idsOf(await novels(page(one).next_cursor))).toEqual(all.slice(5, 10));
    },
    async "PG-094 rows come before the cursor"() {
      const one = await novels();
      const expected = idsOf(await novels(page(one).next_cursor));
      await shop.add("early", "9790000000001", "2030-01-01 00:00:00");
      expect(idsOf(await novels(page(one).next_cursor))).toEqual(expected);
    },
    async "PG-095 rows come after the cursor"() {
      const one = await novels();
      await shop.add("late", "9790000000002", "2018-01-01 00:00:00");
      const ids = idsOf(
        ...(await walk(shop, `/books/newest?genre=novel&page_size=5&cursor=${encoded(page(one).next_cursor)}`)),
      );
      expect(ids.filter((id) => id === "late")).toHaveLength(1);
    },
    async "PG-097 rows come to the front, and prev shows them"() {
      const one = await novels();
      const two = await novels(page(one).next_cursor);
      await shop.add("front", "9790000000003", "2031-01-01 00:00:00");
      const back = await novels(page(two).prev_cursor);
      expect([idsOf(back), page(back).prev_cursor]).toEqual([idsOf(one), expect.any(String)]);
      expect(idsOf(await novels(page(back).prev_cursor))).toEqual(["front"]);
    },
    async "PG-099 all later rows are deleted"() {
      const one = await novels();
      const kept = new Set(idsOf(one));
      await shop.remove((await allNovels()).filter((id) => !kept.has(id)));
      expect(await novels(page(one).next_cursor)).toMatchObject({
        status: 200,
        said: { items: [], pagination: { next_cursor: null, prev_cursor: expect.any(String) } },
      });
    },
  };
}
