import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Answer, Rows } from "./answer.ts";
import { idsOf, type PagedShop, page, walk } from "./paged-shop.ts";

interface Connection {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  readonly totalCount: number;
}
const PARTS = "nodes{id} pageInfo{hasNextPage endCursor}";
const BAD_INPUT = "200 BAD_USER_INPUT";

/** D. GraphQL connection from the same strategy */
export function connections(shop: PagedShop): Rows {
  const { ask, as } = shop;
  const newest = (query: string): Promise<Answer> => shop.send(`/books/newest?${query}`);
  const cursorOf = async (query = "page_size=10"): Promise<string> => page(await newest(query)).next_cursor ?? "";
  const connect = async (args: string, parts = PARTS): Promise<Connection> =>
    ((await ask(`{books(${args}){${parts}}}`)).said.data as { books: Connection }).books;
  return {
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
      const all = idsOf(...(await walk(shop, "/books/newest?page_size=100")));
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
      const sent = await shop.statements(() => connect("first:5"));
      expect([sent.length, sent.some((text) => text.includes("count("))]).toEqual([1, false]);
    },
    async "PG-112 a count alone reads no rows"() {
      const sent = await shop.statements(() => connect("first:5,filter:{genre:{equal:science}}", "totalCount"));
      expect(sent.map((text) => text.includes("count("))).toEqual([true]);
    },
  };
}

/** E. Properties, as far as they are about requests */
export function properties(shop: PagedShop): Rows {
  const { send } = shop;
  const newest = (query: string): Promise<Answer> => send(`/books/newest?${query}`);
  return {
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
      const pages = await walk(shop, "/books/newest?page_size=30");
      let back = pages.at(-1);
      for (let i = pages.length - 2; i >= 0; i--) {
        back = await newest(`page_size=30&cursor=${encodeURIComponent(back?.said.pagination?.prev_cursor ?? "")}`);
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
}
