import { type RawBuilder, sql } from "kysely";
import { canonicalName } from "../../auth/users/canonical-name.ts";
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

/** Selects users for a list in the order of their names. */
export interface UserFilter {
  /** A part of the name or the address. */
  readonly search?: string | undefined;
  readonly role?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  /** The name after which the list begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Reads users with their permissions and roles in one statement. */
export class UserRows {
  readonly #database: Database;
  readonly #select: RawBuilder<unknown>;

  constructor(database: Database) {
    this.#database = database;
    const permissions = this.#list(sql`
      select permission as entry from portico_user_permissions where user_id = users.id
      union
      select of_role.permission from portico_user_roles as held
      join portico_role_permissions as of_role on of_role.role = held.role where held.user_id = users.id`);
    const roles = this.#list(sql`select role as entry from portico_user_roles where user_id = users.id`);
    this.#select = sql`select users.*, ${permissions} as "~permissions", ${roles} as "~roles" from users`;
  }

  async find(column: UserColumn, value: string): Promise<FoundUser | null> {
    // PostgreSQL rejects a statement with a NUL character, and no row can contain one.
    if (value.includes("\0")) return null;
    const { rows } = await runNamed(this.#database, sql<Row>`${this.#select} where ${sql.ref(column)} = ${value}`);
    return rows[0] === undefined ? null : foundUser(rows[0]);
  }

  async list({ search, role, isDisabled, after, limit }: UserFilter): Promise<readonly StoredUser[]> {
    const includes = sql.raw(this.#database.engine === "postgres" ? "strpos" : "instr");
    const conditions = [sql`true`];
    if (search !== undefined) {
      const text = canonicalName(search);
      conditions.push(sql`(${includes}(username_key, ${text}) > 0 or ${includes}(email_key, ${text}) > 0)`);
    }
    if (role !== undefined)
      conditions.push(sql`exists (select 1 from portico_user_roles where user_id = users.id and role = ${role})`);
    if (isDisabled !== undefined) conditions.push(isDisabled ? sql`disabled_at is not null` : sql`disabled_at is null`);
    if (after !== undefined) conditions.push(sql`username_key > ${canonicalName(after)}`);
    const { rows } = await sql<Row>`
      ${this.#select} where ${sql.join(conditions, sql` and `)} order by username_key limit ${limit}`.execute(
      this.#database,
    );
    return rows.map((row) => foundUser(row).user);
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

function foundUser({ password_hash, "~permissions": permissions, "~roles": roles, ...columns }: Row): FoundUser {
  const user = { ...columns, permissions: parseList(permissions), roles: parseList(roles) };
  return { user: user as unknown as StoredUser, passwordHash: password_hash };
}

function parseList(text: string): readonly string[] {
  return Object.freeze(JSON.parse(text) as string[]);
}
