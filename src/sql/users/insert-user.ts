import { sql } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Database } from "../database/database.ts";
import { isForeignKeyViolation } from "../database/is-unique-violation.ts";

/**
 * Writes a user and the roles of a new one, both or neither. Gives the id; `undefined` when a value is another's already. That is
 * no error of the database, which would end a transaction that this is part of.
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
      ? new ConfigurationError("userModel.roles", "has a role that is not defined: User.objects.defineRole makes one")
      : error;
  }
}

async function insertRow(database: Database, values: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const row = await insertion(database, values).executeTakeFirst();
  return row?.id;
}

/** One statement: whoever calls may hold a transaction, and must not wait for a second one. */
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

/** SQLite has one writer: who has a transaction open beside this one could not write the user either. */
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
