import { CompiledQuery, type DatabaseConnection } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { trust } from "../statements/is-trusted.ts";
import type { Guard } from "./guard.ts";

/** The columns of each checked guard's database that compare text without its case. */
const loose = new WeakMap<Guard, ReadonlySet<string>>();

/**
 * Compares a guard with the catalogue, which is read once. Throws `ConfigurationError` for a table or view that the guard does not
 * name, and for a rule that compares a column which ignores case: such a column may be equal to a value that JavaScript tells
 * apart. A guard that fails is checked again with the next statement.
 */
export async function checkCatalogue(guard: Guard, connection: DatabaseConnection): Promise<void> {
  const columns = loose.get(guard) ?? (await readCatalogue(guard, connection));
  if (columns.size === 0) return;
  const [column] = [...columns].filter((one) => guard.compared.has(one));
  if (column !== undefined)
    throw new ConfigurationError(
      OPTION,
      `compares ${column}, which ignores the case of text: give the column a collation that doesn't`,
    );
}

const OPTION = "openDatabase.guard";

async function readCatalogue(guard: Guard, connection: DatabaseConnection): Promise<ReadonlySet<string>> {
  const { tables, columns } = CATALOGUES[guard.engine];
  const read = async <R>(text: string): Promise<readonly R[]> => {
    const compiled = CompiledQuery.raw(text);
    // The connection to a replica passes statements on to handles with the guard.
    trust(compiled.query);
    return (await connection.executeQuery<R>(compiled)).rows;
  };
  const names = (await read<{ readonly name: string }>(tables)).map(({ name }) => name);
  const missing = names.filter((name) => !guard.tables.has(name) && !isOwn(name));
  if (missing.length > 0)
    throw new ConfigurationError(
      OPTION,
      `doesn't name ${missing.join(", ")}: give each of them rules, or "open" if everyone can read and write it`,
    );
  const found = new Set(columns(await read(LOOSE[guard.engine])));
  guard.sampled();
  const rowless =
    guard.engine === "sqlite" ? (await read<{ readonly name: string }>(ROWLESS)).map(({ name }) => name) : [];
  const itself = rowless.find((name) => guard.selfReading.has(name));
  if (itself !== undefined)
    throw new ConfigurationError(
      `${OPTION}.${itself}`,
      "has a rule that looks up other rows of its own table, and a table WITHOUT ROWID has nothing that tells them from the written row: create the table with a rowid",
    );
  loose.set(guard, found);
  return found;
}

/** Portico's tables are closed unless the guard names them. */
function isOwn(name: string): boolean {
  return name === "users" || name === "account_log" || name.startsWith("portico_");
}

const ROWLESS = "select name from pragma_table_list where wr = 1";

const LOOSE = {
  postgres:
    'select c.relname as "table", a.attname as name from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid ' +
    "join pg_catalog.pg_type t on t.oid = a.atttypid left join pg_catalog.pg_collation l on l.oid = a.attcollation " +
    "where c.relkind in ('r', 'v', 'm', 'f', 'p') and pg_catalog.pg_table_is_visible(c.oid) and a.attnum > 0 and not a.attisdropped " +
    "and (t.typname = 'citext' or l.collisdeterministic = false)",
  sqlite: "select name as \"table\", sql as name from sqlite_schema where type = 'table' and sql is not null",
} as const;

/** Returns the columns that a statement of CREATE TABLE declares with a collation. */
function collatedColumns(table: string, text: string): readonly string[] {
  const body = text.slice(text.indexOf("(") + 1).replaceAll(/\([^()]*\)/g, "");
  return body
    .split(",")
    .filter((line) => /\bcollate\s+["`[]?(?!binary\b)\w/i.test(line))
    .map(
      (line) => `${table}.${/^\s*(?:"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|(\w+))/.exec(line)?.slice(1).find(Boolean) ?? ""}`,
    );
}

interface LooseRow {
  readonly table: string;
  /** The column, or for SQLite the statement that created the table. */
  readonly name: string;
}

const CATALOGUES = {
  postgres: {
    // Tables that need no schema are named without it. Partitions are parts of a table.
    tables:
      "select c.relname as name from pg_catalog.pg_class c where c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition " +
      "and pg_catalog.pg_table_is_visible(c.oid) and c.relnamespace = any (select oid from pg_catalog.pg_namespace where nspname = any (current_schemas(false)))",
    columns: (rows: readonly LooseRow[]) => rows.map(({ table, name }) => `${table}.${name}`),
  },
  sqlite: {
    tables:
      "select name from pragma_table_list where schema in ('main', 'temp') and type in ('table', 'view', 'virtual') and name not like 'sqlite\\_%' escape '\\'",
    columns: (rows: readonly LooseRow[]) => rows.flatMap(({ table, name }) => collatedColumns(table, name)),
  },
} as const;
