import { liveClient, logCatcher, type TestClient, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type BookshopOptions, bookshop } from "../src/app.ts";
import { Shelf } from "../src/shelf.ts";

const emma = { isbn: "9780141439587", title: "Emma", author: "Jane Austen" };
const persuasion = { isbn: "9780141439686", title: "Persuasion", author: "Jane Austen" };

interface ListPage {
  readonly items: readonly unknown[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function live(options: BookshopOptions = {}): ReturnType<typeof liveClient> {
  const client = await liveClient(bookshop({ app: { logger: false }, ...options }));
  onTestFinished(() => client.close());
  return client;
}

describe.each([
  [
    "straight to the routes",
    async (options?: BookshopOptions) => testClient(bookshop({ app: { logger: false }, ...options })),
  ],
  ["over a socket", live],
] satisfies [string, (options?: BookshopOptions) => Promise<TestClient>][])("the bookshop, %s", (_way, open) => {
  it("lists the books, and those of one author", async () => {
    const client = await open({
      shelf: new Shelf([emma, persuasion, { ...emma, isbn: "9780199535521", author: "A. Nother" }]),
    });

    const all = (await client.get("/books")).json();
    const hers = (await client.get("/books", { query: { author: "Jane Austen" } })).json();

    expect(all).toMatchObject({ items: { length: 3 }, pagination: { total_items: 3 } });
    expect(hers).toMatchObject({ items: [emma, persuasion], pagination: { total_items: 2 } });
  });

  it("gives the list page by page, in the order of titles", async () => {
    const client = await open({ shelf: new Shelf([persuasion, emma]) });

    const first = (await client.get("/books?page_size=1")).json() as ListPage;
    const second = (await client.get(`/books?page_size=1&cursor=${first.pagination.next_cursor}`)).json() as ListPage;
    const misplaced = await client.get(`/books?author=X&cursor=${first.pagination.next_cursor}`);

    expect([first.items, second.items]).toEqual([[emma], [persuasion]]);
    expect(second.pagination.next_cursor).toBeNull();
    expect(misplaced.json()).toMatchObject({ status: 400, code: "cursor_mismatch" });
  });

  it("adds a book and then has it", async () => {
    const client = await open();

    const added = await client.post("/books", { body: emma });
    const shown = await client.get(`/books/${emma.isbn}`);

    expect([added.status, added.headers["location"], added.json()]).toEqual([201, `/books/${emma.isbn}`, emma]);
    expect(shown.json()).toEqual(emma);
  });

  it("answers problems: no such book, no ISBN, a book without a title", async () => {
    const client = await open();

    const missing = await client.get(`/books/${emma.isbn}`);
    const senseless = await client.get("/books/emma");
    const untitled = await client.post("/books", { body: { ...emma, title: " " } });

    expect(missing.headers["content-type"]).toMatch("application/problem+json");
    expect(missing.json()).toMatchObject({ status: 404, code: "not_found", detail: `There is no book ${emma.isbn}` });
    expect(senseless.json()).toMatchObject({
      status: 422,
      errors: [{ in: "path", path: ["isbn"], message: "an ISBN has 13 digits" }],
    });
    expect(untitled.json()).toMatchObject({
      status: 422,
      code: "validation_failed",
      errors: [{ in: "body", path: ["title"] }],
    });
  });

  it("says no when the commit fails, though the handler said yes", async () => {
    const client = await open({ shelf: new Shelf([emma]) });

    const refused = await client.post("/books", { body: { ...emma, title: "Emma, again" } });

    expect(refused.json()).toMatchObject({ status: 409, code: "isbn_taken" });
    expect((await client.get(`/books/${emma.isbn}`)).json()).toEqual(emma);
  });

  it("takes so many books a minute from one client", async () => {
    const client = await open({ addsPerMinute: 1 });
    await client.post("/books", { body: emma });

    const refused = await client.post("/books", { body: persuasion });

    expect(refused.json()).toMatchObject({ status: 429, code: "rate_limited" });
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect((await client.get("/books")).status).toBe(200);
  });

  it("describes itself", async () => {
    const client = await open();

    const { openapi, info, paths } = (await client.get("/openapi.json")).json() as Record<
      string,
      Record<string, object>
    >;

    expect(openapi).toBe("3.1.0");
    expect(info).toMatchObject({ title: "Bookshop", version: "1.0.0" });
    expect(Object.keys(paths ?? {})).toEqual(["/books", "/books/{isbn}"]);
  });
});

describe("the news", () => {
  it("tells of books that were added, not of those that were refused", async () => {
    const client = await live({ shelf: new Shelf([emma]) });
    const socket = await client.socket("/books/news");

    await client.post("/books", { body: emma });
    await client.post("/books", { body: persuasion });

    expect(JSON.parse(await socket.next())).toEqual(persuasion);
  });

  it("ends with the application", async () => {
    const client = await liveClient(bookshop({ app: { logger: false } }));
    const socket = await client.socket("/books/news");

    await client.close();

    expect(await socket.closed).toEqual({ code: 1001, reason: "going away" });
  });

  it("leaves nothing in the log when a client goes", async () => {
    const log = logCatcher();
    const client = await live({ app: { logger: log } });
    const socket = await client.socket("/books/news");

    socket.terminate();
    await socket.closed;
    await client.post("/books", { body: emma });

    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
