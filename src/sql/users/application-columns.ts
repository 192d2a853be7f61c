import type { Database } from "../database/database.ts";
import { tableColumns } from "../table-columns.ts";
import { OWN_COLUMNS } from "./user-record.ts";

/**
 * The columns that the application has added to the table `users`. Only a name that the database itself has counts, letter by
 * letter: SQLite takes `Password_Hash` for `password_hash`, and `rowid` for a column.
 */
export class ApplicationColumns {
  #known: ReadonlySet<string> = new Set();

  /** What of a row may be written; everything else is left out. */
  async valuesOf(database: Database, row: object): Promise<Record<string, unknown>> {
    const given = Object.entries(row).filter(([column, value]) => value !== undefined && !isPorticos(column));
    // Asked again for each name that is not known: a migration may have made the column since.
    if (given.some(([column]) => !this.#known.has(column))) this.#known = await columnsOf(database);
    return Object.fromEntries(given.filter(([column]) => this.#known.has(column)));
  }
}

async function columnsOf(database: Database): Promise<ReadonlySet<string>> {
  const columns = await tableColumns(database.selectFrom("users"), database.engine, {
    schema: undefined,
    table: "users",
  });
  return new Set(columns.keys());
}

function isPorticos(column: string): boolean {
  return OWN_COLUMNS.has(column.toLowerCase());
}
