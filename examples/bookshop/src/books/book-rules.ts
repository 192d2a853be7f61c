import { every, isEqual, isIn, rule, some } from "portico";
import { loader } from "portico/graphql";
import type { Database } from "portico/sql";
import { whoMay } from "../accounts/who-may.ts";
import type { Tables } from "../tables.ts";
import type { BookRow, CoverTable } from "./book-table.ts";

// Everybody sees the books of a shop. These rules are about the rest: their costs, and who changes them.

/** The books of a seller. */
const ownBooks = every(
  whoMay("sell:books"),
  rule<BookRow>({
    name: "book.own",
    reads: ["seller_id"],
    says: "the seller of the book",
    allows: (user, book) => book.seller_id === user.id,
    where: (user) => isEqual("seller_id", user.id),
  }),
);

/** The books whose cost a user may see. */
export const pricedBooks = some(whoMay("read:costs"), ownBooks);

/** The books that a user may change. */
export const editableBooks = some(whoMay("write:books"), ownBooks);

/** Users who may add books. Those of a seller belong to the seller. */
export const addsBooks = some(whoMay("write:books"), whoMay("sell:books"));

/** The covers that a user may change: those of the books above. `all` returns a handle without rules. */
export function editableCovers(all: () => Database<Tables>) {
  const sellerOfBook = loader(async (ids: readonly string[]) => {
    const rows = await all().selectFrom("books").select(["id", "seller_id"]).where("id", "in", ids).execute();
    const sellers = new Map(rows.map(({ id, seller_id }) => [id, seller_id]));
    return ids.map((id) => sellers.get(id) ?? null);
  });
  const ownCovers = rule<CoverTable>({
    name: "cover.own",
    says: "the seller of the book",
    allows: async (user, { book_id }, { ctx }) => (await sellerOfBook.load(ctx, book_id)) === user.id,
    where: (user) => isIn("book_id", { from: "books", column: "id", where: isEqual("seller_id", user.id) }),
  });
  return some(whoMay("write:books"), every(whoMay("sell:books"), ownCovers));
}
