import { AsyncDataHandler, type CursorMetadata, CursorPagination } from "portico/pagination";
import { describe, expect, it } from "vitest";
import { type Book, bodyOf, books, bothWays, ids, range, target } from "../ways.ts";

const byId = new CursorPagination({ pageBar: 3 });

/** A source without keys. */
class Numbers extends AsyncDataHandler<Book> {
  async getTotalItems(): Promise<number> {
    return 45;
  }
  async getItems(offset: number, limit: number): Promise<readonly Book[]> {
    return books(45).slice(offset, offset + limit);
  }
}

bothWays("a page bar", (serve) => {
  const open = (list: readonly Book[] | Numbers, strategy = byId) =>
    serve((app) => app.get("/books", ({ response }) => response.apaginate(list as readonly Book[], { strategy })));
  const page = async (client: Awaited<ReturnType<typeof open>>, link: string | undefined) =>
    bodyOf<CursorMetadata>(await client.get(target(link)));
  const offsets = ({ pagination }: { readonly pagination: CursorMetadata }) =>
    pagination.pages?.map(({ offset }) => offset);

  it.each([
    ["a list", books(45)],
    ["a source that cannot seek", new Numbers()],
  ])("leads from every page to those near it: %s", async (_name, list) => {
    const client = await open(list);
    const walked: { items: readonly unknown[]; pages: NonNullable<CursorMetadata["pages"]> }[] = [];
    let link: string | undefined = "http://x/books?page_size=10";
    while (link !== undefined) {
      const body: Awaited<ReturnType<typeof page>> = await page(client, link);
      walked.push({ items: ids(body), pages: body.pagination.pages ?? [] });
      link = body.pagination.links.next;
    }

    expect(walked.map(({ pages }) => pages.map(({ offset }) => offset))).toEqual([
      [1, 2, 3],
      [-1, 1, 2, 3],
      [-2, -1, 1, 2],
      [-3, -2, -1, 1],
      [-3, -2, -1],
    ]);
    for (const [at, { pages }] of walked.entries())
      for (const { offset, link: near } of pages)
        expect(ids(await page(client, near))).toEqual(walked[at + offset]?.items);
  });

  it("ends with the list, however full the last page is", async () => {
    const first = async (count: number) => page(await open(books(count)), "http://x/books?page_size=10");

    expect(offsets(await first(10))).toEqual([]);
    expect(offsets(await first(20))).toEqual([1]);
    expect(offsets(await first(21))).toEqual([1, 2]);
    expect(offsets(await first(40))).toEqual([1, 2, 3]);
    expect(offsets(await first(400))).toEqual([1, 2, 3]);
    expect(offsets(await first(0))).toEqual([]);
  });

  it("links to the next and the previous page only, if it reaches one page far", async () => {
    const client = await open(books(45), new CursorPagination({ pageBar: 1 }));
    const first = await page(client, "http://x/books?page_size=10");
    const second = await page(client, first.pagination.links.next);

    expect(second.pagination.pages).toEqual([
      { offset: -1, link: second.pagination.links.prev },
      { offset: 1, link: second.pagination.links.next },
    ]);
    expect(ids(second)).toEqual(range(11, 20));
  });
});

describe("the option pageBar", () => {
  it("is off by default, and described if it is on", () => {
    const pagesOf = (strategy: CursorPagination) =>
      (strategy.describe().metadata as { properties: Record<string, unknown> }).properties["pages"];

    expect(pagesOf(new CursorPagination())).toBeUndefined();
    expect(pagesOf(byId)).toMatchObject({ type: "array" });
  });

  it.each([0, 11, 1.5])("rejects %d", (pageBar) => {
    expect(() => new CursorPagination({ pageBar })).toThrow(
      "CursorPagination.pageBar must be a whole number from 1 to 10",
    );
  });
});
