import { NotFound, Router, rateLimit, some } from "portico";
import * as z from "zod";
import { whoMay } from "../accounts/who-may.ts";
import { database, inTransaction } from "../database.ts";
import { bookList, booksByTitle, byOffset, byPage, newestFirst } from "./book-lists.ts";
import { addBook } from "./book-mutations.ts";
import { addsBooks, pricedBooks } from "./book-rules.ts";
import { MAX_CENTS, MAX_STOCK } from "./book-scalars.ts";
import { genres } from "./book-table.ts";

const Isbn = z.string().regex(/^\d{13}$/, "an ISBN must have 13 digits");
const Title = z.string().min(1).max(500);
const Cents = z.int().min(0).max(MAX_CENTS);

// The response contains only the fields of this schema, so it does not reveal the cost of a book.
const Book = z.object({
  id: z.string(),
  isbn: Isbn,
  title: Title,
  genre: z.enum(genres),
  author_id: z.string(),
  price_cents: Cents,
  stock: z.int().min(0).max(MAX_STOCK),
});
const NewBook = Book.omit({ id: true }).extend({ title: z.string().trim().min(1).max(500), cost_cents: Cents });
const StockEntry = Book.extend({ cost_cents: Cents });

/** The routes under /books. */
export function bookRoutes(): Router {
  const router = new Router();

  router.get(
    "/",
    {
      paginated: { strategy: byPage, item: Book },
      summary: "Lists the books by title",
      tags: ["books"],
    },
    ({ response }) => response.apaginate(booksByTitle(), { strategy: byPage }),
  );

  router.get(
    "/newest",
    {
      paginated: { strategy: newestFirst, item: Book },
      summary: "Lists the newest books first",
      tags: ["books"],
    },
    ({ response }) => response.apaginate(bookList(), { strategy: newestFirst }),
  );

  router.get(
    "/stock",
    {
      auth: some(whoMay("read:costs"), whoMay("sell:books")),
      paginated: { strategy: byOffset, item: StockEntry, rule: pricedBooks },
      summary: "Lists the stock with its costs; for a seller, only their own books",
      tags: ["books"],
    },
    ({ response }) => response.apaginate(booksByTitle(), { strategy: byOffset }),
  );

  router.get("/:id", { response: Book, summary: "Returns a book", tags: ["books"] }, async ({ path }) => {
    const book = await database.selectFrom("books").selectAll().where("id", "=", path.id).executeTakeFirst();
    if (book === undefined) throw new NotFound(`The book ${path.id} does not exist`);
    return book;
  });

  router.get("/:id/cover", { summary: "Returns the cover of a book", tags: ["books"] }, async ({ path, response }) => {
    const cover = await database.selectFrom("covers").selectAll().where("book_id", "=", path.id).executeTakeFirst();
    if (cover === undefined) throw new NotFound("This book has no cover");
    // The type comes from the client that uploaded the file, so the browser must not guess another one.
    response.header("x-content-type-options", "nosniff");
    return response.bytes(cover.bytes, cover.content_type);
  });

  router.post(
    "/",
    {
      auth: addsBooks,
      body: NewBook,
      response: { 201: Book },
      params: { trx: inTransaction },
      middleware: [rateLimit({ perMinute: 60, name: "add-book" })],
      summary: "Adds a book",
      tags: ["books"],
    },
    async ({ body, user, trx, response }) => {
      const added = await addBook(trx, user, body);
      return response.status(201).header("location", `/books/${added.id}`).json(added);
    },
  );

  return router;
}
