import { authorized, BadRequest, Conflict, type CurrentUser } from "portico";
import { mutation, t } from "portico/graphql";
import type { Transaction } from "portico/sql";
import { inTransaction } from "../database.ts";
import type { Tables } from "../tables.ts";
import { addsBooks, editableBooks } from "./book-rules.ts";
import { Cents, Isbn, Stock, Title } from "./book-scalars.ts";
import type { BookRow, NewBook } from "./book-table.ts";
import { Book, Genre } from "./book-type.ts";
import { stockOf } from "./stock-news.ts";

const NewBookInput = t.input("NewBook", {
  isbn: Isbn,
  title: Title,
  genre: Genre,
  authorId: t.id,
  priceCents: Cents,
  costCents: Cents,
  stock: Stock(0),
});

// Omitted fields stay unchanged.
const BookChange = t.input("BookChange", {
  title: t.optional(Title),
  priceCents: t.optional(Cents),
  stock: t.optional(Stock),
});

/** Everybody can see a book, so the error is 403 for a user who may not change it. */
const editableBook = authorized({ trx: inTransaction })(
  ({ args, trx }: { args: { id: string }; trx: Transaction<Tables> }) =>
    trx.selectFrom("books").selectAll().where("id", "=", args.id).forUpdate().executeTakeFirst(),
  editableBooks,
  { status: 403 },
);

export const bookMutations = {
  addBook: mutation(Book, {
    params: { book: NewBookInput, trx: inTransaction },
    auth: addsBooks,
  })(({ book: { authorId, priceCents, costCents, ...book }, trx, ctx }) =>
    addBook(trx, ctx.user, { ...book, author_id: authorId, price_cents: priceCents, cost_cents: costCents }),
  ),

  changeBook: mutation(Book, {
    params: { id: t.id, change: BookChange, trx: inTransaction, book: editableBook },
    auth: addsBooks,
  })(async ({ id, change: { title, priceCents, stock }, trx, ctx }) => {
    const changed = await trx
      .updateTable("books")
      // Kysely omits undefined values. An update without any is still a statement that finds the book.
      .set({ id, title, price_cents: priceCents, stock })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (stock !== undefined) await ctx.pubsub.publish(stockOf(id), stock);
    return changed;
  }),

  setCover: mutation(Book, {
    params: { id: t.arg(t.id, { name: "book" }), file: t.upload, trx: inTransaction, book: editableBook },
    auth: addsBooks,
  })(async ({ id, file, trx, book }) => {
    const bytes = await new Response(file.stream()).bytes();
    const cover = { content_type: file.contentType, bytes };
    await trx
      .insertInto("covers")
      .values({ book_id: id, ...cover })
      .onConflict((conflict) => conflict.column("book_id").doUpdateSet(cover))
      .execute();
    return book;
  }),
};

/** Used by the route and by the mutation. A book that staff add belongs to the shop. */
export async function addBook(trx: Transaction<Tables>, user: CurrentUser, book: NewBook): Promise<BookRow> {
  const author = await trx.selectFrom("authors").select("id").where("id", "=", book.author_id).executeTakeFirst();
  if (author === undefined) throw new BadRequest(`The author ${book.author_id} does not exist`);
  const added = await trx
    .insertInto("books")
    .values({ ...book, seller_id: user.may("write:books") ? null : user.id })
    .onConflict((conflict) => conflict.column("isbn").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (added === undefined)
    throw new Conflict(`A book with the ISBN ${book.isbn} already exists`, { code: "ISBN_TAKEN" });
  return added;
}
