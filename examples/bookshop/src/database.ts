import { channel } from "node:diagnostics_channel";
import type { Dependency } from "portico";
import { type Database, openDatabase, type SentStatement, type Transaction, transaction } from "portico/sql";
import { settings } from "./settings.ts";
import type { Tables } from "./tables.ts";

/** Emits every statement. Tests count them, and you can subscribe to find slow ones. */
export const statements = channel("bookshop.statements");

/**
 * The connection pool. Code that only reads can use it directly. Code that also runs inside a mutation, such as a
 * loader, uses `database.current()`, which returns the transaction if there is one. Lists that may be a moment old use
 * `replica()`.
 */
export const database: Database<Tables> = openDatabase<Tables>(
  { primary: settings.databaseUrl, replicas: settings.replicaUrls },
  { onStatement: (statement: SentStatement) => statements.publish(statement) },
);

/**
 * A transaction for one mutation, or for one request to a route that changes data. It is committed before the response
 * is sent, so a failed commit is reported to the client. Events published meanwhile are sent after the commit, or not
 * at all.
 */
export const inTransaction: Dependency<Transaction<Tables>> = transaction(database);
