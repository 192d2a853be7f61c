import { sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Database } from "../database/database.ts";
import { isForeignKeyViolation } from "../database/is-unique-violation.ts";

/**
 * Inserts a user and the roles of a new user, or neither. Returns the id, or `undefined` if another user already has
 * one of the values. This is not a database error, which would end a surrounding transaction.
 */
export async function insertUser(
  database: Database,
  values: Readonly<Record<string, unknown>>,
  roles: readonly string[],
): Promise<string | undefined> {
  if (roles.length === 0) return insertRow(database, values);
  try {
    return await (database.engine === "postgres" ? insertAtOnce : insertTogether)(database, values, roles);
  } catch (error) {
    throw isForeignKeyViolation(error)
      ? new ConfigurationError("userModel.roles", "contains an undefined role: define it with User.objects.defineRole")
      : error;
  }
}

async function insertRow(database: Database, values: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const row = await insertion(database, values).executeTakeFirst();
  return row?.id;
}

/** A single statement, because the caller may hold a transaction and must not wait for a second one. */
async function insertAtOnce(
  database: Database,
  values: Readonly<Record<string, unknown>>,
  roles: readonly string[],
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with made as (${insertion(database, values)}), granted as (
      insert into portico_user_roles (user_id, role) select made.id, role from made, unnest(${roles}::text[]) as role
    )
    select id from made`.execute(database);
  return rows[0]?.id;
}

/** SQLite has one writer, so a caller with a parallel open transaction could not insert the user anyway. */
async function insertTogether(
  database: Database,
  values: Readonly<Record<string, unknown>>,
  roles: readonly string[],
): Promise<string | undefined> {
  const trx = await database.begin();
  try {
    const user_id = await insertRow(trx, values);
    if (user_id !== undefined)
      await trx
        .insertInto("portico_user_roles")
        .values(roles.map((role) => ({ user_id, role })))
        .execute();
    await trx.end("success");
    return user_id;
  } catch (error) {
    await trx.end("failure");
    throw error;
  }
}

function insertion(database: Database, values: Readonly<Record<string, unknown>>) {
  return database
    .insertInto("users")
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returning("id");
}
