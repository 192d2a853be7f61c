import type { Generated } from "kysely";

/** The columns of the built-in user table. A table with more of them is declared by an interface that extends this one. */
export interface UserTable {
  id: Generated<string>;
  /** As it was given. */
  email: string;
  /** What no two users share: the e-mail address in one spelling. */
  email_key: string;
  username: string;
  /** What no two users share: the name in one spelling. */
  username_key: string;
  /** `null` where there is none: nobody signs in with a password then. */
  password_hash: string | null;
  /** The generation of the user's credentials. */
  credential_version: Generated<number>;
  email_verified_at: Date | string | null;
  disabled_at: Date | string | null;
  created_at: Generated<Date | string>;
}

/**
 * The tables that Portico's own migrations create. Extend it with your own, and hand it to `openDatabase`.
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
