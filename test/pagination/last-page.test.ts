import { AsyncDataHandler, type CursorMetadata, CursorPagination } from "portico/pagination";
import { expect, it } from "vitest";
import { type Book, bodyOf, books, bothWays, ids, queryOf, range, serveOnce, target } from "./ways.ts";

const byId = new CursorPagination({ totals: "none" });

bothWays("the last page of a cursor list", (serve) => {
  const open = (list: readonly Book[]) =>
    serve((app) => app.get("/books", ({ response }) => response.paginate(list, { strategy: byId })));
  const page = async (client: Awaited<ReturnType<typeof open>>, link: string | undefined) =>
    bodyOf<CursorMetadata>(await client.get(target(link)));

  it("has the last items, counted from the end, without a total", async () => {
    const client = await open(books(45));

    const first = await page(client, "http://x/books?genre=novel&page_size=20");
    const last = await page(client, first.pagination.links.last);

    expect(first.pagination.total_items).toBeNull();
    expect(queryOf(first.pagination.links.last)).toMatchObject({ genre: "novel", page_size: "20" });
    expect(ids(last)).toEqual(range(26, 45));
    expect(last.pagination).toMatchObject({ has_more: false, next_cursor: null });
    expect(last.pagination.links).not.toHaveProperty("next");
  });

  it("leads back to the first item by prev, and from there forward again", async () => {
    const client = await open(books(45));
    const first = await page(client, "http://x/books?page_size=20");

    let body = await page(client, first.pagination.links.last);
    const backward = ids(body);
    while (body.pagination.links.prev !== undefined) {
      body = await page(client, body.pagination.links.prev);
      backward.unshift(...ids(body));
    }
    const again = await page(client, body.pagination.links.next);

    expect(backward).toEqual(range(1, 45));
    expect(ids(again)).toEqual(range(6, 25));
  });

  it("is linked from every page with the same cursor, also from the only one, but not from an empty list", async () => {
    const client = await open(books(3));
    const empty = await open([]);

    const only = await page(client, "http://x/books");
    const small = await page(client, "http://x/books?page_size=1");
    const second = await page(client, small.pagination.links.next);

    expect(ids(await page(client, only.pagination.links.last))).toEqual([1, 2, 3]);
    expect(second.pagination.links.last).toBe(small.pagination.links.last);
    expect((await page(empty, "http://x/books")).pagination.links).not.toHaveProperty("last");
  });

  it("includes items that were added after the link", async () => {
    const list = books(10);
    const client = await open(list);
    const first = await page(client, "http://x/books?page_size=2");
    list.push({ id: 11, title: "Late" });

    expect(ids(await page(client, first.pagination.links.last))).toEqual([10, 11]);
  });
});

it("a source that cannot seek has no link to its last page", async () => {
  class Offsets extends AsyncDataHandler<Book> {
    getTotalItems = async (): Promise<number> => 45;
    getItems = async (offset: number, limit: number): Promise<readonly Book[]> =>
      books(45).slice(offset, offset + limit);
  }
  const client = await serveOnce((app) =>
    app.get("/books", ({ response }) => response.apaginate(new Offsets(), { strategy: byId })),
  );

  expect(bodyOf(await client.get("/books")).pagination.links).not.toHaveProperty("last");
});
