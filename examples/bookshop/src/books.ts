import { Depend, NotFound, Router, rateLimit } from "portico";
import * as z from "zod";
import { bookPages, byTitle } from "./pages.ts";
import { bookAdded, type Shelf, unitOfWork } from "./shelf.ts";

const Isbn = z.string().regex(/^\d{13}$/, "an ISBN has 13 digits");
const Book = z.object({ isbn: Isbn, title: z.string().trim().min(1), author: z.string().trim().min(1) });
const Filter = z.object({ author: z.string().optional() });

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
      // A cursor of one author's books makes no sense among all books: it is refused there.
      const filter = query.author === undefined ? {} : { filter: { author: query.author } };
      return response.paginate(bookPages(shelf, query.author), { strategy: byTitle, ...filter });
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
