import { type Kysely, type RawBuilder, sql } from "kysely";
import type { GuardedEngine } from "../statements/sql-dialect.ts";

/** A foreign key. */
export interface Reference {
  readonly table: string;
  readonly columns: readonly string[];
  readonly parent: string;
  readonly keys: readonly string[];
  /** The action on these rows after the row that they refer to was deleted: `"cascade"` or `"set null"`, for example. */
  readonly onDelete: string;
}

/** A unique index that is not the primary key. */
export interface UniqueIndex {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Reads the foreign keys and the unique indexes of a database from its catalogue. */
export async function readReferences(
  database: Kysely<any>,
  engine: GuardedEngine,
): Promise<{ readonly references: readonly Reference[]; readonly indexes: readonly UniqueIndex[] }> {
  return engine === "postgres" ? readPostgres(database) : readSqlite(database);
}

const ON_DELETE: Readonly<Record<string, string>> = { c: "cascade", n: "set null", d: "set default" };

async function readPostgres(database: Kysely<any>): ReturnType<typeof readReferences> {
  const found = await sql<Reference>`
    select t.relname::text as "table", p.relname::text as parent, c.confdeltype::text as "onDelete",
      ${columnsOf("c.conkey", "c.conrelid")} as columns, ${columnsOf("c.confkey", "c.confrelid")} as keys
    from pg_catalog.pg_constraint c join pg_catalog.pg_class t on t.oid = c.conrelid join pg_catalog.pg_class p on p.oid = c.confrelid
    where c.contype = 'f' and pg_catalog.pg_table_is_visible(t.oid) order by t.relname, c.conname`.execute(database);
  const indexes = await sql<UniqueIndex>`
    select t.relname::text as "table", array(
      select a.attname::text from pg_catalog.pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])) as columns
    from pg_catalog.pg_index i join pg_catalog.pg_class t on t.oid = i.indrelid
    where i.indisunique and not i.indisprimary and pg_catalog.pg_table_is_visible(t.oid) order by t.relname`.execute(
    database,
  );
  return {
    references: found.rows.map((row) => ({ ...row, onDelete: ON_DELETE[row.onDelete] ?? "no action" })),
    indexes: indexes.rows,
  };
}

async function readSqlite(database: Kysely<any>): ReturnType<typeof readReferences> {
  const keys = await sql<{
    readonly table: string;
    readonly id: number;
    readonly parent: string;
    readonly column: string;
    readonly key: string | null;
    readonly onDelete: string;
  }>`
    select m.name as "table", k.id, k."table" as parent, k."from" as "column", k."to" as "key", lower(k.on_delete) as "onDelete"
    from sqlite_schema m, pragma_foreign_key_list(m.name) k where m.type = 'table' order by m.name, k.id, k.seq`.execute(
    database,
  );
  const indexes = await sql<{ readonly table: string; readonly name: string; readonly column: string | null }>`
    select m.name as "table", l.name, c.name as "column"
    from sqlite_schema m, pragma_index_list(m.name) l, pragma_index_info(l.name) c
    where m.type = 'table' and l."unique" = 1 and l.origin <> 'pk' order by m.name, l.name, c.seqno`.execute(database);
  const byKey = Map.groupBy(keys.rows, ({ table, id }) => `${table} ${id}`);
  const byIndex = Map.groupBy(indexes.rows, ({ table, name }) => `${table} ${name}`);
  return {
    references: [...byKey.values()].map((parts) => ({
      table: parts[0]?.table ?? "",
      parent: parts[0]?.parent ?? "",
      onDelete: parts[0]?.onDelete ?? "",
      columns: parts.map(({ column }) => column),
      keys: parts.map(({ key }) => key ?? "id"),
    })),
    indexes: [...byIndex.values()].map((parts) => ({
      table: parts[0]?.table ?? "",
      columns: parts.flatMap(({ column }) => (column === null ? [] : [column])),
    })),
  };
}

/** The names of columns by their numbers, in order. */
function columnsOf(keys: string, table: string): RawBuilder<unknown> {
  return sql`array(
    select a.attname::text from unnest(${sql.ref(keys)}) with ordinality k (n, i)
    join pg_catalog.pg_attribute a on a.attrelid = ${sql.ref(table)} and a.attnum = k.n order by k.i)`;
}
