import { channel } from "node:diagnostics_channel";
import { type Provider, provide } from "portico";
import { type Database, openDatabase, type SentStatement, type Transaction } from "portico/sql";
import { settings } from "./settings.ts";
import type { Tables } from "./tables.ts";

/** Hears of every statement: a test counts them, and whoever looks for slow ones subscribes, too. */
export const statements = channel("bookshop.statements");

/**
 * The pool. Whatever only reads, reads here; what stands below a mutation, such as a loader, by `database.current()`, which is
 * the transaction while there is one.
 */
export const database: Database<Tables> = openDatabase<Tables>(settings.databaseUrl, {
  onStatement: (statement: SentStatement) => statements.publish(statement),
});

/**
 * A transaction for one mutation, or for one request of a route that changes something. It is committed before the answer
 * leaves: a commit that fails is the answer. What is published meanwhile is heard after the commit, or never.
 */
export const unitOfWork: Provider<Transaction<Tables>> = provide(async function* ({ ctx }) {
  const trx = await database.begin();
  try {
    yield trx;
  } finally {
    await trx.end(ctx.outcome);
  }
});
