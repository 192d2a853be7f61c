import { Depend, NotFound, Router, rateLimit } from "portico";
import { CursorPagination, SyncListDataHandler } from "portico/pagination";
import * as z from "zod";
import { bookAdded, type Shelf, unitOfWork } from "./shelf.ts";

const Isbn = z.string().regex(/^\d{13}$/, "an ISBN has 13 digits");
const Book = z.object({ isbn: Isbn, title: z.string().trim().min(1), author: z.string().trim().min(1) });
const Filter = z.object({ author: z.string().optional() });

/** Two books of one title are told apart by their ISBN. */
const byTitle = new CursorPagination({ sortField: "title", maxPageSize: 50 });

export interface BooksOptions {
  readonly shelf: Shelf;
  readonly addsPerMinute: number;
}

/** The routes below `/books`. */
export function booksRouter({ shelf, addsPerMinute }: BooksOptions): Router {
  const router = new Router();

  router.get(
    "/",
    { query: Filter, paginated: { strategy: byTitle, item: Book }, summary: "Lists the books" },
    ({ query, response }) => {
      const books = shelf.list().filter(({ author }) => query.author === undefined || author === query.author);
      const handler = new SyncListDataHandler(books, { name: "books", uniqueKey: ["isbn"] });
      // A cursor of one author's books makes no sense among all books: it is refused there.
      return response.paginate(handler, { strategy: byTitle, filter: { author: query.author } });
    },
  );

  router.get("/:isbn", { path: z.object({ isbn: Isbn }), response: Book, summary: "Shows a book" }, ({ path }) => {
    const book = shelf.find(path.isbn);
    if (book === null) throw new NotFound(`There is no book ${path.isbn}`);
    return book;
  });

  router.post(
    "/",
    {
      body: Book,
      response: { 201: Book },
      params: { draft: Depend(unitOfWork(shelf)) },
      middleware: [rateLimit({ perMinute: addsPerMinute, name: "add-book" })],
      summary: "Adds a book",
    },
    ({ body, draft, response }) => {
      draft.add(body);
      return response.status(201).header("location", `/books/${body.isbn}`).json(body);
    },
  );

  // The signal ends the subscription together with the socket.
  router.socket("/news", async ({ ctx, socket }) => {
    for await (const book of ctx.pubsub.subscribe(bookAdded, { signal: ctx.signal })) socket.send(JSON.stringify(book));
  });

  return router;
}
