import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.ts";
import { runNamed } from "../database/run-named.ts";
import type { StoredUser } from "./user-record.ts";

/** The keys by which a user is found. */
export type UserColumn = "id" | "email_key" | "username_key";

/** A user and, separately, the hash, which is never returned to callers. */
export interface FoundUser {
  readonly user: StoredUser;
  readonly passwordHash: string | null;
}

/** Reads users with their permissions and roles in one statement. */
export class UserRows {
  readonly #database: Database;
  readonly #permissions: RawBuilder<string>;
  readonly #roles: RawBuilder<string>;

  constructor(database: Database) {
    this.#database = database;
    this.#permissions = this.#list(sql`
      select permission as entry from portico_user_permissions where user_id = users.id
      union
      select of_role.permission from portico_user_roles as held
      join portico_role_permissions as of_role on of_role.role = held.role where held.user_id = users.id`);
    this.#roles = this.#list(sql`select role as entry from portico_user_roles where user_id = users.id`);
  }

  async find(column: UserColumn, value: string): Promise<FoundUser | null> {
    // PostgreSQL rejects a statement with a NUL character, and no row can contain one.
    if (value.includes("\0")) return null;
    const { rows } = await runNamed(
      this.#database,
      sql<Row>`
        select users.*, ${this.#permissions} as "~permissions", ${this.#roles} as "~roles"
        from users where ${sql.ref(column)} = ${value}`,
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { password_hash, "~permissions": permissions, "~roles": roles, ...columns } = row;
    const user = { ...columns, permissions: parseList(permissions), roles: parseList(roles) };
    return { user: user as unknown as StoredUser, passwordHash: password_hash };
  }

  /** Returns the result of the query as the text of a JSON array. */
  #list(query: RawBuilder<unknown>): RawBuilder<string> {
    return this.#database.engine === "postgres"
      ? sql<string>`coalesce((select json_agg(entry order by entry)::text from (${query}) as entries), '[]')`
      : sql<string>`(select json_group_array(entry) from (select entry from (${query}) order by entry))`;
  }
}

interface Row extends Record<string, unknown> {
  readonly password_hash: string | null;
  readonly "~permissions": string;
  readonly "~roles": string;
}

function parseList(text: string): readonly string[] {
  return Object.freeze(JSON.parse(text) as string[]);
}
