import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Database, type DatabaseOptions, openDatabase } from "portico/sql";
import { policyStatements } from "../../../src/sql/guard/policy-statements.ts";
import { onServer } from "../accounts/databases.ts";
import { guard, openShop, type ShopTables } from "./guarded-shop.ts";

/** A role that owns nothing, with the rights of an application. */
export interface PolicedShop {
  /** The database without a guard, as the owner of the tables. */
  readonly plain: Database<ShopTables>;
  /** Opens the guarded database as the role. */
  open(options?: DatabaseOptions): Database<ShopTables>;
  /** Opens it as the role, without a guard. */
  openBare(): Database<ShopTables>;
  /** Makes the role the owner of the tables and functions. */
  giveAway(): Promise<void>;
  /** Opens it as the owner. */
  openAsOwner(options?: DatabaseOptions): Database<ShopTables>;
  /** Applies the policies of a guard, and returns how to revert them. */
  apply(options?: DatabaseOptions, isForced?: boolean, isPublic?: boolean): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function openPolicedShop(): Promise<PolicedShop> {
  const { place, plain } = await openShop("PostgreSQL");
  const role = `portico_role_${randomUUID().slice(0, 8)}`;
  const url = new URL(place.url);
  const schema = decodeURIComponent(url.search).split("search_path=")[1] as string;
  await onServer(`create role ${role} login`);
  for (const right of [`usage on schema ${schema}`, `all on all tables in schema ${schema}`])
    await onServer(`grant ${right} to ${role}`);
  url.username = role;
  const opened: Database<any>[] = [];
  const openAt = (at: string, options: DatabaseOptions): Database<any> => {
    const database = openDatabase<any>(at, { guard, policies: true, ...options });
    opened.push(database);
    return database;
  };
  return {
    plain,
    open: (options = {}) => openAt(url.href, options),
    openBare: () => openAt(url.href, { guard: undefined as never, policies: false }),
    async giveAway() {
      const { rows } = await sql<{ text: string }>`
        select 'alter table ' || c.oid::regclass || ' owner to ' as text from pg_class c
          where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
        union all select 'alter function ' || p.oid::regprocedure || ' owner to ' from pg_proc p
          where p.pronamespace = current_schema()::regnamespace`.execute(plain);
      await sql.raw(`grant create on schema ${schema} to ${role}`).execute(plain);
      for (const { text } of rows) await sql.raw(text + role).execute(plain);
    },
    openAsOwner: (options = {}) => openAt(place.url, options),
    async apply(options = {}, isForced = false, isPublic = true) {
      const { up, down } = await policyStatements(openAt(place.url, options), isForced, isPublic ? null : role);
      const execute = async (statements: readonly string[]): Promise<void> => {
        for (const statement of statements) await sql.raw(statement).execute(plain);
      };
      await execute(up);
      return () => execute(down);
    },
    async close() {
      await Promise.all(opened.map((database) => database.destroy()));
      await place.remove();
      await onServer(`drop role ${role}`);
    },
  };
}
