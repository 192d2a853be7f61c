import { openDatabase, type PorticoTables, transaction } from "portico/sql";
import type { NoteTable } from "./notes/note-table.ts";
import { settings } from "./settings.ts";

/** Portico's tables, which hold the accounts, and yours. */
export interface Tables extends PorticoTables {
  notes: NoteTable;
}

export const database = openDatabase<Tables>(settings.databaseUrl);

/** A transaction for one request: committed before the response is sent, and rolled back after an error. */
export const inTransaction = transaction(database);
