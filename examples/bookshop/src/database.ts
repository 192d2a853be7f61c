import { channel } from "node:diagnostics_channel";
import type { Dependency } from "portico";
import { type Database, openDatabase, type SentStatement, type Transaction, transaction } from "portico/sql";
import { editableBooks, editableCovers } from "./books/book-rules.ts";
import { orderRules } from "./orders/order-rules.ts";
import { ownReviews } from "./reviews/review-rules.ts";
import { settings } from "./settings.ts";
import type { Tables } from "./tables.ts";

/** Emits every statement. Tests count them, and you can subscribe to find slow ones. */
export const statements = channel("bookshop.statements");

const all = () => lookups.current();
const { writableOrders, writableLines, ...rules } = orderRules(all);
export const { visibleOrders, visibleLines, shippableOrders } = rules;

/**
 * The connection pool. Code that only reads can use it directly. Code that also runs inside a mutation, such as a
 * loader, uses `database.current()`, which returns the transaction if there is one. Lists that may be a moment old use
 * `replica()`.
 *
 * Every statement follows the rules of its tables, so a handler that forgets a check neither reads nor changes the rows of
 * another seller or buyer.
 */
export const database: Database<Tables> = openDatabase<Tables>(
  { primary: settings.databaseUrl, replicas: settings.replicaUrls },
  {
    onStatement: (statement: SentStatement) => statements.publish(statement),
    guard: {
      orders: { read: visibleOrders, write: writableOrders },
      order_lines: { read: visibleLines, write: writableLines },
      // Anyone may browse the catalogue. Only costs are secret, and a table has no rules for columns: Book.costCents has one.
      books: { read: "open", write: editableBooks },
      covers: { read: "open", write: editableCovers(all) },
      // The shop adds authors, in its seed.
      authors: { read: "open", write: "closed" },
      // Anyone may read reviews.
      reviews: { read: "open", write: ownReviews },
      // Orders and reviews show the usernames of others. Portico itself writes accounts, without these rules.
      users: { read: "open", write: "closed" },
    },
  },
);

// Handles without rules. `portico audit` lists those that are made when the application is loaded, with their reasons.
const lookups: Database<Tables> = database.asSystem("rules look up the sellers and the buyer of a row");
export const shelf: Database<Tables> = database.asSystem("an order takes copies of the books of any seller");

/**
 * A transaction for one mutation, or for one request to a route that changes data. It is committed before the response
 * is sent, so a failed commit is reported to the client. Events published meanwhile are sent after the commit, or not
 * at all.
 */
export const inTransaction: Dependency<Transaction<Tables>> = transaction(database);
