import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { Client } from "pg";
import { expect, vi } from "vitest";
import { idsOf, page, walk } from "./pagination-pages.ts";
import { type Answer, as, ask, post, type Rows, send } from "./the-shop.ts";

const newest = (query: string): Promise<Answer> => send(`/books/newest?${query}`);
const WRONG = "400 invalid_cursor";
const MISMATCH = "400 cursor_mismatch";
const cursorOf = async (query = "page_size=10"): Promise<string> => page(await newest(query)).next_cursor ?? "";
async function refuse(...cursors: readonly string[]): Promise<void> {
  for (const cursor of cursors)
    expect([cursor, (await newest(`cursor=${encodeURIComponent(cursor)}`)).verdict]).toEqual([cursor, WRONG]);
}
const encoded = (cursor: string | null | undefined): string => encodeURIComponent(cursor ?? "");

/** C. cursor: /books/newest */
export const cursors: Rows = {
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
    const last = (await walk("/books/newest?page_size=30")).at(-1);
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
    for (const book of ["book-11", "book-12"]) await post("/orders", { books: [{ book }] }, headers);
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
    const theirs = await send(`/orders?cursor=${encoded(page(mine).next_cursor)}`, { headers: [await as("reader1")] });
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
    const { database } = await import("../../src/database.ts");
    const { rows } = await sql<{
      odd: number;
    }>`select count(*)::int as odd from books where extract(microseconds from added_at)::int % 1000 <> 0`.execute(
      database,
    );
    const ids = idsOf(...(await walk("/books/newest?page_size=1&genre=poetry")));
    expect([(rows[0]?.odd ?? 0) > 0, ids.length, new Set(ids).size]).toEqual([true, 25, 25]);
  },
  async "PG-090 one value in the whole column"() {
    const ids = idsOf(...(await walk("/books/newest?genre=children&page_size=3")));
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

interface Connection {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  readonly totalCount: number;
}
const PARTS = "nodes{id} pageInfo{hasNextPage endCursor}";
const connect = async (args: string, parts = PARTS): Promise<Connection> =>
  ((await ask(`{books(${args}){${parts}}}`)).said.data as { books: Connection }).books;
const BAD_INPUT = "200 BAD_USER_INPUT";

async function statements(run: () => Promise<unknown>): Promise<readonly string[]> {
  const query = vi.spyOn(Client.prototype, "query");
  try {
    await run();
    return query.mock.calls.map(([statement]) => JSON.stringify(statement)).filter((text) => text.includes("books"));
  } finally {
    query.mockRestore();
  }
}

/** D. GraphQL connection from the same strategy */
export const connections: Rows = {
  async "PG-104 negative sizes"() {
    for (const args of ["first:-1", "last:-1"])
      expect((await ask(`{books(${args}){nodes{id}}}`)).verdict).toBe(BAD_INPUT);
  },
  async "PG-105 first: 0"() {
    expect(await connect("first:0")).toMatchObject({ nodes: [], pageInfo: { hasNextPage: true } });
  },
  async "PG-106 first: 1000 is clamped"() {
    expect((await connect("first:1000")).nodes).toHaveLength(100);
  },
  async "PG-107 first and last"() {
    expect((await ask("{books(first:1,last:1){nodes{id}}}")).verdict).toBe(BAD_INPUT);
  },
  async "PG-108 after and before"() {
    const all = idsOf(await newest("page_size=100"));
    const [from, to] = [await cursorOf("page_size=10"), await cursorOf("page_size=21")];
    const range = await connect(`first:50,after:"${from}",before:"${to}"`);
    expect([range.nodes.map(({ id }) => id), range.pageInfo.hasNextPage]).toEqual([all.slice(10, 20), false]);
  },
  async "PG-109 last without before"() {
    const all = idsOf(...(await walk("/books/newest?page_size=100")));
    expect((await connect("last:3")).nodes.map(({ id }) => id)).toEqual(all.slice(-3));
  },
  async "PG-110 cursors of routes and of the graph are the same"() {
    const all = idsOf(await newest("page_size=30"));
    const there = await connect(`first:10,after:"${await cursorOf()}"`);
    const back = await newest(`page_size=10&cursor=${there.pageInfo.endCursor}`);
    expect([...there.nodes.map(({ id }) => id), ...idsOf(back)]).toEqual(all.slice(10, 30));
    const mine = await ask(`{myOrders(after:"${await cursorOf()}"){nodes{id}}}`, {}, [await as("reader2")]);
    expect(mine.verdict).toBe(BAD_INPUT);
  },
  async "PG-111 no count without a request for it"() {
    const sent = await statements(() => connect("first:5"));
    expect([sent.length, sent.some((text) => text.includes("count("))]).toEqual([1, false]);
  },
  async "PG-112 a count alone reads no rows"() {
    const sent = await statements(() => connect("first:5,genre:science", "totalCount"));
    expect(sent.map((text) => text.includes("count("))).toEqual([true]);
  },
};

/** E. Properties, as far as they are about requests */
export const properties: Rows = {
  async "PG-115 any bytes as a cursor"() {
    for (let i = 0; i < 60; i++) {
      const bytes = randomBytes(1 + i * 3);
      expect((await newest(`cursor=${bytes.toString("base64url")}`)).status).toBe(400);
      expect((await newest(`cursor=${bytes.toString("hex").replaceAll(/../g, "%$&")}`)).status).toBe(400);
    }
  },
  async "PG-116 any query string"() {
    const pieces = [
      "page=",
      "page_size=",
      "cursor=",
      "&",
      "=",
      "%",
      "%00",
      "1",
      "2",
      "-",
      "[]",
      "é",
      "__proto__",
      ";",
      "+",
    ];
    for (let i = 0; i < 60; i++) {
      const query = Array.from(randomBytes(6), (byte) => pieces[byte % pieces.length]).join("");
      const answer = await send(`/books?${encodeURI(decodeURI(query.replaceAll("%", "%25")))}`);
      expect([200, 400], query).toContain(answer.status);
      for (const link of Object.values(answer.said.pagination?.links ?? {})) {
        const { pathname, search } = new URL(link);
        expect((await send(pathname + search)).status, link).toBe(200);
      }
    }
  },
  async "PG-117 there and back again"() {
    const pages = await walk("/books/newest?page_size=30");
    let back = pages.at(-1);
    for (let i = pages.length - 2; i >= 0; i--) {
      back = await newest(`page_size=30&cursor=${encoded(back?.said.pagination?.prev_cursor)}`);
      expect(idsOf(back)).toEqual(idsOf(pages[i] as Answer));
    }
  },
  async "PG-118 the header and the body name the same targets"() {
    const answer = await send(`/books?page=2&q=${encodeURIComponent('>",é')}`);
    const header = [...(answer.headers["link"] ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, target, rel]) => [
      rel,
      target,
    ]);
    expect(Object.fromEntries(header)).toEqual(page(answer).links);
  },
};

const insert = async (id: string, isbn: string, at: string): Promise<void> => {
  const { database } = await import("../../src/database.ts");
  await sql`insert into books (id, isbn, title, genre, author_id, price_cents, cost_cents, added_at)
    values (${id}, ${isbn}, 'A New One', 'novel', 'author-1', 1, 1, ${at}::timestamptz)`.execute(database);
};
const remove = async (where: ReturnType<typeof sql>): Promise<void> => {
  const { database } = await import("../../src/database.ts");
  await sql`delete from books where genre = 'novel' and ${where}`.execute(database);
};
const novels = (cursor?: string | null): Promise<Answer> =>
  newest(`genre=novel&page_size=5${cursor ? `&cursor=${encoded(cursor)}` : ""}`);

/** C. cursor, while the novels change */
export const changes: Rows = {
  async "PG-092 the row of the cursor is deleted"() {
    const all = idsOf(...(await walk("/books/newest?genre=novel&page_size=50")));
    const one = await novels();
    await remove(sql`id = ${all[4]}`);
    expect(idsOf(await novels(page(one).next_cursor))).toEqual(all.slice(5, 10));
  },
  async "PG-093 the row of the cursor moves"() {
    const { database } = await import("../../src/database.ts");
    const all = idsOf(...(await walk("/books/newest?genre=novel&page_size=50")));
    const one = await novels();
    await sql`update books set added_at = '2019-01-01' where id = ${all[4]}`.execute(database);
    expect(idsOf(await novels(page(one).next_cursor))).toEqual(all.slice(5, 10));
  },
  async "PG-094 rows come before the cursor"() {
    const one = await novels();
    const expected = idsOf(await novels(page(one).next_cursor));
    await insert("early", "9790000000001", "2030-01-01");
    expect(idsOf(await novels(page(one).next_cursor))).toEqual(expected);
  },
  async "PG-095 rows come after the cursor"() {
    const one = await novels();
    await insert("late", "9790000000002", "2018-01-01");
    const ids = idsOf(
      ...(await walk(`/books/newest?genre=novel&page_size=5&cursor=${encoded(page(one).next_cursor)}`)),
    );
    expect(ids.filter((id) => id === "late")).toHaveLength(1);
  },
  async "PG-097 rows come to the front, and prev shows them"() {
    const one = await novels();
    const two = await novels(page(one).next_cursor);
    await insert("front", "9790000000003", "2031-01-01");
    const back = await novels(page(two).prev_cursor);
    expect([idsOf(back), page(back).prev_cursor]).toEqual([idsOf(one), expect.any(String)]);
    expect(idsOf(await novels(page(back).prev_cursor))).toEqual(["front"]);
  },
  async "PG-099 all later rows are deleted"() {
    const one = await novels();
    await remove(sql`not id in (${sql.join(idsOf(one))})`);
    expect(await novels(page(one).next_cursor)).toMatchObject({
      status: 200,
      said: { items: [], pagination: { next_cursor: null, prev_cursor: expect.any(String) } },
    });
  },
};
