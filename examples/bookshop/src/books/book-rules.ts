import { every, isEqual, rule, some } from "portico";
import { whoMay } from "../accounts/user.ts";
import type { BookRow } from "./book-table.ts";

// Everybody sees the books of a shop. These rules are about the rest: their costs, and who changes them.

/** The books of a seller. */
const ownBooks = every(
  whoMay("sell:books"),
  rule<BookRow>({
    name: "book.own",
    reads: ["seller_id"],
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
