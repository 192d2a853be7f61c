import { beforeAll, describe, expect, it } from "vitest";
import { openShop, type Shop } from "./open-shop.ts";
import { byToken } from "./sign-in.ts";

interface Page {
  readonly items: readonly { readonly id: string; readonly title: string; readonly price_cents: number }[];
  readonly pagination: {
    readonly total_items: number | null;
    readonly total_pages?: number;
    readonly next_cursor?: string | null;
    readonly links: { readonly next?: string };
  };
}

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ books: 120 });
});

/** Walks through the pages by following the links of the responses. */
async function walk(path: string, headers = {}): Promise<Page[]> {
  const pages: Page[] = [];
  for (let link: string | undefined = path; link !== undefined; link = pages.at(-1)?.pagination.links.next) {
    const { pathname, search } = new URL(link, "http://shop.example");
    pages.push((await shop.client.get(pathname + search, { headers })).json() as Page);
  }
  return pages;
}
const ids = (pages: readonly Page[]): string[] => pages.flatMap(({ items }) => items.map(({ id }) => id));

describe("the lists of books", () => {
  it("by cursor are sorted as the client requests, by sortable names only", async () => {
    const pages = await walk("/books/newest?sort=-title&page_size=50");
    const refused = await shop.client.get("/books/newest?sort=costCents");

    const titles = pages.flatMap(({ items }) => items.map(({ title }) => title));
    expect(titles).toEqual(titles.toSorted().reverse());
    expect(new Set(ids(pages)).size).toBe(120);
    expect(refused.json()).toMatchObject({ status: 400, code: "invalid_sort", parameter: "sort" });
  });

  it("by page are ordered by title, and their links lead to every book once", async () => {
    const pages = await walk("/books?page_size=50");

    const titles = pages.flatMap(({ items }) => items.map(({ title }) => title));
    expect(pages.map(({ items }) => items.length)).toEqual([50, 50, 20]);
    expect(pages[0]?.pagination).toMatchObject({ total_items: 120, total_pages: 3 });
    expect(titles).toEqual(titles.toSorted());
    expect(new Set(ids(pages)).size).toBe(120);
  });

  it("by cursor start with the newest, and their links lead to every book once", async () => {
    const pages = await walk("/books/newest?page_size=50");

    expect(ids(pages)).toEqual(Array.from({ length: 120 }, (_, index) => `book-${120 - index}`));
    expect(pages[0]?.pagination.total_items).toBeNull();
  });

  it("by offset are for staff, who see the cost of a book", async () => {
    const headers = await byToken(shop.client, "staff");

    const anonymous = await shop.client.get("/books/stock");
    const reader = await shop.client.get("/books/stock", { headers: await byToken(shop.client, "reader1") });
    const pages = await walk("/books/stock?limit=100", headers);

    expect([anonymous.status, reader.status]).toEqual([401, 403]);
    expect(new Set(ids(pages)).size).toBe(120);
    expect(pages[0]?.items[0]).toMatchObject({ cost_cents: expect.any(Number) });
    expect((await walk("/books?page_size=100"))[0]?.items[0]).not.toHaveProperty("cost_cents");
  });

  it("can be filtered by genre, and reject a cursor of another genre", async () => {
    const poetry = await walk("/books/newest?genre=poetry&page_size=10");
    const cursor = poetry[0]?.pagination.next_cursor ?? "";

    const misplaced = await shop.client.get("/books/newest", { query: { genre: "novel", cursor } });
    const unknown = await shop.client.get("/books?genre=gossip");
    const hidden = await shop.client.get("/books?costCents.lt=100");

    expect(ids(poetry)).toHaveLength(24);
    expect(misplaced.json()).toMatchObject({ status: 400, code: "cursor_mismatch" });
    expect(unknown.json()).toMatchObject({ status: 400, code: "invalid_filter", parameter: "genre" });
    expect(hidden.json()).toMatchObject({ status: 400, code: "invalid_filter", parameter: "costCents.lt" });
  });

  it("can be filtered by price and title, on routes and in the GraphQL API alike", async () => {
    const all = (await walk("/books?page_size=100")).flatMap(({ items }) => items);
    const [{ title }] = all as [Page["items"][number]];
    const dear = all.filter(({ price_cents }) => price_cents >= 1_500).map(({ id }) => id);

    const pages = await walk("/books?page_size=100&priceCents.gte=1500");
    const { data } = await shop.client.graphql<{ books: { nodes: { id: string }[]; totalCount: number } }>(
      "query ($title: String!) { books(filter: { title: { startsWith: $title } }) { nodes { id } totalCount } }",
      { title },
    );

    expect(dear.length).toBeGreaterThan(0);
    expect(dear.length).toBeLessThan(all.length);
    expect(ids(pages)).toEqual(dear);
    expect(data?.books.totalCount).toBe(all.filter((book) => book.title.startsWith(title)).length);
  });

  it("share their cursors with the GraphQL API", async () => {
    const page = (await shop.client.get("/books/newest?page_size=3&genre=novel")).json() as Page;

    const { data } = await shop.client.graphql<{ books: { nodes: object[]; pageInfo: { endCursor: string } } }>(
      "query ($after: String) { books(first: 2, after: $after, filter: { genre: { equal: novel } }) { nodes { id } pageInfo { endCursor } totalCount } }",
      { after: page.pagination.next_cursor },
    );
    const next = await shop.client.get("/books/newest", {
      query: { page_size: 1, genre: "novel", cursor: data?.books.pageInfo.endCursor ?? "" },
    });

    const all = ids(await walk("/books/newest?genre=novel&page_size=100"));
    expect(data?.books).toMatchObject({ nodes: [{ id: all[3] }, { id: all[4] }], totalCount: 24 });
    expect((next.json() as Page).items).toMatchObject([{ id: all[5] }]);
  });
});

describe("the list of authors", () => {
  it("is ordered by name", async () => {
    const answer = await shop.client.get("/authors?limit=2");

    const { items, pagination } = answer.json() as { items: { name: string }[]; pagination: object };
    const names = items.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(pagination).toMatchObject({ total_items: 3, limit: 2, total_pages: 2 });
  });
});

describe("a book", () => {
  it("is returned without its cost, and an unknown book is a problem response", async () => {
    const shown = await shop.client.get("/books/book-7");
    const missing = await shop.client.get("/books/book-0");

    expect(shown.json()).toMatchObject({ id: "book-7", isbn: "9780000000007" });
    expect(shown.text()).not.toContain("cost");
    expect(missing.json()).toMatchObject({ status: 404, code: "not_found", detail: "The book book-0 does not exist" });
  });

  it("can be added only by staff, once, and for an existing author", async () => {
    const headers = await byToken(shop.client, "staff");
    const body = {
      isbn: "9780141439587",
      title: "Emma",
      genre: "novel",
      author_id: "author-1",
      price_cents: 999,
      cost_cents: 500,
      stock: 3,
    };

    const refused = await shop.client.post("/books", { body });
    const added = await shop.client.post("/books", { body, headers });
    const again = await shop.client.post("/books", { body, headers });
    const orphan = await shop.client.post("/books", {
      body: { ...body, isbn: "9780141439686", author_id: "x" },
      headers,
    });
    const untitled = await shop.client.post("/books", { body: { ...body, title: " " }, headers });

    expect(refused.status).toBe(401);
    expect([added.status, added.json()]).toEqual([201, expect.objectContaining({ isbn: body.isbn, stock: 3 })]);
    expect((await shop.client.get(String(added.headers["location"]))).json()).toEqual(added.json());
    expect(again.json()).toMatchObject({ status: 409, code: "isbn_taken" });
    expect(orphan.json()).toMatchObject({ status: 400, detail: "The author x does not exist" });
    expect(untitled.json()).toMatchObject({ status: 422, errors: [{ in: "body", path: ["title"] }] });
  });
});

describe("the export of the books", () => {
  it("has every book once, and nothing after its last point", async () => {
    const { bookExport } = await import("../src/books/book-export.ts");
    const { database } = await import("../src/database.ts");

    const batches = await Array.fromAsync(bookExport());
    const rest = await Array.fromAsync(bookExport(batches.at(-1)?.after));

    const exported = batches.flatMap(({ lines }) => lines.trimEnd().split("\n"));
    const books = await database.selectFrom("books").select("isbn").orderBy("id").execute();
    expect(exported.map((line) => (JSON.parse(line) as { isbn: string }).isbn)).toEqual(books.map(({ isbn }) => isbn));
    expect(rest).toEqual([]);
  });
});
