import { AsyncDataHandler, type CursorMetadata, CursorPagination } from "portico/pagination";
import { logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { type Book, bodyOf, books, ids, range, serveOnce, target } from "./ways.ts";

/** A source without `getItemsAfter`. It records what it is asked for. */
class Offsets extends AsyncDataHandler<Book> {
  readonly reads: (readonly [offset: number, limit: number])[] = [];
  readonly #count: number;
  constructor(count: number) {
    super();
    this.#count = count;
  }
  async getTotalItems(): Promise<number> {
    return this.#count;
  }
  async getItems(offset: number, limit: number): Promise<readonly Book[]> {
    this.reads.push([offset, limit]);
    return books(this.#count).slice(offset, offset + limit);
  }
}

describe("the cursors of a source that cannot seek", () => {
  it("lead forward to the last page, which may be full, and back to the first", async () => {
    const source = new Offsets(6);
    const strategy = new CursorPagination({ defaultPageSize: 3 });
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(source, { strategy })),
    );

    const first = bodyOf<CursorMetadata>(await client.get("/items"));
    const last = bodyOf<CursorMetadata>(await client.get(target(first.pagination.links.next)));
    const back = bodyOf<CursorMetadata>(await client.get(target(last.pagination.links.prev)));

    expect([first, last, back].map(ids)).toEqual([range(1, 3), range(4, 6), range(1, 3)]);
    expect([first, last, back].map(({ pagination }) => pagination.has_more)).toEqual([true, false, true]);
    expect(first.pagination.prev_cursor).toBeNull();
    expect(back.pagination.prev_cursor).toBeNull();
    expect(source.reads).toEqual([
      [0, 4],
      [3, 4],
      [0, 3],
    ]);
  });

  it("are not accepted once the source can seek, and the other way round", async () => {
    let canSeek = false;
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) =>
        response.apaginate(canSeek ? books(9) : new Offsets(9), { strategy: "cursor" }),
      ),
    );
    const cursor = async () =>
      bodyOf<CursorMetadata>(await client.get("/items?page_size=2")).pagination.next_cursor ?? "";
    const offset = await cursor();
    canSeek = true;
    const key = await cursor();

    expect((await client.get(`/items?cursor=${key}`)).status).toBe(200);
    expect((await client.get(`/items?cursor=${offset}`)).json()).toMatchObject({ code: "cursor_mismatch" });
    canSeek = false;
    expect((await client.get(`/items?cursor=${offset}`)).status).toBe(200);
    expect((await client.get(`/items?cursor=${key}`)).json()).toMatchObject({ code: "cursor_mismatch" });
  });
});

describe("a page number next to a cursor", () => {
  const warning = "the request has both a cursor and a page number: the page number is ignored";

  it.each([
    ["cursor and page", {}, (cursor: string) => `cursor=${cursor}&page=2`, true],
    ["a cursor", {}, (cursor: string) => `cursor=${cursor}`, false],
    ["a page", {}, () => "page=2", false],
    ["a cursor that is called page", { cursorParam: "page" }, (cursor: string) => `page=${cursor}`, false],
  ])("%s", async (_title, options, queryOf, isWarned) => {
    const log = logCatcher();
    const strategy = new CursorPagination(options);
    const client = await serveOnce(
      (app) => app.get("/items", ({ response }) => response.paginate(books(30), { strategy })),
      { logger: log },
    );
    const { next_cursor } = bodyOf<CursorMetadata>(await client.get("/items")).pagination;

    expect((await client.get(`/items?${queryOf(next_cursor ?? "")}`)).status).toBe(200);
    expect(log.lines.some(({ msg }) => msg === warning)).toBe(isWarned);
  });
});
