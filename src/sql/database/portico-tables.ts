import type { Generated } from "kysely";

/** The columns of the built-in user table. Extend this interface to declare more columns. */
export interface UserTable {
  id: Generated<string>;
  /** The address as it was entered. */
  email: string;
  /** The email address in canonical form, which is unique. */
  email_key: string;
  username: string;
  /** The username in canonical form, which is unique. */
  username_key: string;
  /** `null` if the user has no password and cannot sign in with one. */
  password_hash: string | null;
  /** The version of the user's credentials. */
  credential_version: Generated<number>;
  email_verified_at: Date | string | null;
  /** When the application created the user itself, outside a request. `null` for users who registered. */
  vouched_at: Generated<Date | string | null>;
  disabled_at: Date | string | null;
  created_at: Generated<Date | string>;
}

/**
 * The tables that Portico's migrations create. Extend it with your own tables and pass it to `openDatabase`.
 *
 * @example
 * ```ts
 * import { openDatabase, type PorticoTables } from "portico/sql";
 *
 * interface Tables extends PorticoTables {
 *   books: { id: string; title: string };
 * }
 *
 * const database = openDatabase<Tables>("sqlite:shop.db");
 * ```
 */
export interface PorticoTables {
  users: UserTable;
  portico_user_permissions: { user_id: string; permission: string };
  portico_roles: { name: string };
  portico_role_permissions: { role: string; permission: string };
  portico_user_roles: { user_id: string; role: string };
  portico_entries: { key: string; value: string; expires_ms: string | number | null };
  portico_counters: { key: string; window_ms: string | number; hits: number; ends_ms: string | number };
}
