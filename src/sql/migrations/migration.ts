import type { Kysely } from "kysely";
import type { Database } from "../database/database.ts";

/**
 * A reversible change of the schema. Do not edit a migration after its release: append a new one to the list.
 *
 * @example
 * ```ts
 * import type { Migration } from "portico/sql";
 *
 * export const books: Migration = {
 *   name: "0001_books",
 *   async up(database) {
 *     await database.schema.createTable("books").addColumn("isbn", "text", (column) => column.primaryKey()).execute();
 *   },
 *   async down(database) {
 *     await database.schema.dropTable("books").execute();
 *   },
 * };
 * ```
 */
export interface Migration {
  readonly name: string;
  /**
   * `false` for statements that PostgreSQL rejects in a transaction, such as `create index concurrently`. If such a
   * migration fails, what it has done remains, so give it one statement that can be repeated. Connect without a pooler
   * that changes connections between transactions. @default true
   */
  readonly transaction?: boolean;
  up(database: Kysely<any>, engine: Database["engine"]): Promise<void>;
  down(database: Kysely<any>): Promise<void>;
}
