import type { Selectable } from "kysely";
import type { Gate } from "../../kernel/access/gate.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import type { PorticoTables } from "./portico-tables.ts";

/** A rule with `where`, or `every`, `some` and `not` of such rules and of required permissions. */
export type TableRule<Row> = Gate<boolean, AuthScope, { readonly parent: Row }>;

/** The rules of a guarded table. */
export interface GuardedTable<Row> {
  /** The rows that a caller can read. `"open"` is all of them. */
  readonly read: TableRule<Row> | "open";
  /**
   * The rows that a caller can also write. A row must satisfy `read` and `write` before and after the write. `"open"` is all
   * rows that the caller can read, and `"closed"` leaves out all rows.
   */
  readonly write: TableRule<Row> | "open" | "closed";
}

/**
 * The rules of each table and view, or `"open"` for one without rules. Portico's own tables are closed unless they are named.
 * A table in a schema outside the search path is named with it: `"shop.orders"`.
 */
export type Guard<DB> = {
  readonly [T in Exclude<keyof DB, keyof PorticoTables>]: GuardedTable<RowOf<DB[T]>> | "open";
} & { readonly [T in keyof DB & keyof PorticoTables]?: GuardedTable<RowOf<DB[T]>> | "open" };

/** The rows of a table. Those of a database without types are anything. */
type RowOf<Table> = 0 extends 1 & Table ? any : Selectable<Table>;
