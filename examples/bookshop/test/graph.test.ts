import { liveClient, type TestClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { bookshop } from "../src/app.ts";
import { Shelf } from "../src/shelf.ts";

const emma = { isbn: "9780141439587", title: "Emma", author: "Jane Austen" };
const persuasion = { isbn: "9780141439686", title: "Persuasion", author: "Jane Austen" };
const ADD =
  "mutation ($isbn: Isbn!, $title: String!, $author: String!) { addBook(isbn: $isbn, title: $title, author: $author) { isbn } }";

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function open(shelf: Shelf = new Shelf([emma])) {
  const client = await liveClient(bookshop({ shelf, app: { logger: false } }));
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: TestClient, query: string, variables: object = {}): Promise<Answer> {
  return (await client.post("/graphql", { body: { query, variables } })).json() as Answer;
}

describe("the graph of the bookshop", () => {
  it("lists the books, those of one author, and shows one", async () => {
    const client = await open(new Shelf([emma, { ...persuasion, author: "A. Nother" }]));

    const all = await ask(client, "{ books { title } }");
    const hers = await ask(
      client,
      'query ($isbn: Isbn!) { books(author: "Jane Austen") { isbn title author } book(isbn: $isbn) { title } }',
      {
        isbn: persuasion.isbn,
      },
    );

    expect(all.data).toEqual({ books: [{ title: "Emma" }, { title: "Persuasion" }] });
    expect(hers.data).toEqual({ books: [emma], book: { title: "Persuasion" } });
  });

  it("pages through the books with the cursors of the routes, and they with its own", async () => {
    const client = await open(new Shelf([emma, persuasion]));
    interface Page {
      readonly items: readonly { readonly title: string }[];
      readonly pagination: { readonly next_cursor: string };
    }

    const first = (await client.get("/books?page_size=1")).json() as Page;
    const second = await ask(
      client,
      "query ($after: String) { library(first: 1, after: $after) { nodes { title } pageInfo { hasNextPage } } }",
      {
        after: first.pagination.next_cursor,
      },
    );
    const start = await ask(client, "{ library(first: 1) { pageInfo { endCursor } totalCount } }");
    const { endCursor } = (start.data as { library: { pageInfo: { endCursor: string } } }).library.pageInfo;
    const rest = (await client.get("/books", { query: { cursor: endCursor } })).json() as Page;

    expect(first.items).toMatchObject([{ title: "Emma" }]);
    expect(second.data).toEqual({ library: { nodes: [{ title: "Persuasion" }], pageInfo: { hasNextPage: false } } });
    expect(start.data).toMatchObject({ library: { totalCount: 2 } });
    expect(rest.items).toMatchObject([{ title: "Persuasion" }]);
  });

  it("adds a book, which the routes then have, and of which the news tells", async () => {
    const client = await open();
    const news = await client.socket("/books/news");

    const added = await ask(client, ADD, persuasion);

    expect(added.data).toEqual({ addBook: { isbn: persuasion.isbn } });
    expect((await client.get(`/books/${persuasion.isbn}`)).json()).toEqual(persuasion);
    expect(JSON.parse(await news.next())).toEqual(persuasion);
  });

  it("says which book there is already, and what is no ISBN", async () => {
    const client = await open();

    const taken = await ask(client, ADD, emma);
    const senseless = await client.post("/graphql", { body: { query: ADD, variables: { ...emma, isbn: "emma" } } });

    expect(taken.errors).toMatchObject([
      { message: `There is a book ${emma.isbn} already`, extensions: { code: "ISBN_TAKEN" } },
    ]);
    expect([senseless.status, senseless.text()]).toEqual([400, expect.stringContaining("an ISBN has 13 digits")]);
  });

  it("is not in the description of the routes", async () => {
    const client = await open();

    expect((await client.get("/openapi.json")).text()).not.toContain("graphql");
  });
});
