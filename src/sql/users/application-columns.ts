import type { Database } from "../database/database.ts";
import { tableColumns } from "../queries/table-columns.ts";
import { OWN_COLUMNS } from "./user-record.ts";

/**
 * The columns that the application added to the table `users`. Only exact names from the catalogue are accepted,
 * because SQLite reads `Password_Hash` as `password_hash`, and `rowid` as a column.
 */
export class ApplicationColumns {
  #known: ReadonlySet<string> = new Set();

  /** Returns the values that may be written and drops all others. */
  async valuesOf(database: Database, row: object): Promise<Record<string, unknown>> {
    const given = Object.entries(row).filter(([column, value]) => value !== undefined && !isPorticos(column));
    // The catalogue is read again for an unknown name, because a migration may have added the column.
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
