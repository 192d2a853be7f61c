import { CompiledQuery, type DatabaseConnection } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { trust } from "../statements/is-trusted.ts";
import type { Guard } from "./guard.ts";

/** Columns that a rule can't rely on. */
interface Columns {
  /** Those that compare text without its case. */
  readonly loose: ReadonlySet<string>;
  /** Those that change with other columns of the row. */
  readonly generated: ReadonlySet<string>;
}

/** The columns of each checked guard's database. */
const known = new WeakMap<Guard, Columns>();

/**
 * Compares a guard with the catalogue, which is read once. Throws `ConfigurationError` for a table or view that the guard does not
 * name, for a rule that compares a column which ignores case: such a column may be equal to a value that JavaScript tells apart,
 * for a rule for writing that compares a generated column, which an update of another column changes, and for a function that a
 * statement can call without naming it in a call. A guard that fails is checked again with the next statement.
 */
export async function checkCatalogue(guard: Guard, connection: DatabaseConnection): Promise<void> {
  const { loose, generated } = known.get(guard) ?? (await readCatalogue(guard, connection));
  refuse(loose, guard.compared, "ignores the case of text: give the column a collation that doesn't");
  refuse(
    generated,
    guard.written,
    'is generated: compare the columns that it is generated from, or make write "closed"',
  );
}

function refuse(columns: ReadonlySet<string>, ofRules: ReadonlySet<string>, sentence: string): void {
  if (columns.size === 0) return;
  // SQLite takes names of another case for the same column.
  const names = new Set([...ofRules].map((name) => name.toLowerCase()));
  const column = [...columns].find((one) => names.has(one.toLowerCase()));
  if (column !== undefined) throw new ConfigurationError(OPTION, `compares ${column}, which ${sentence}`);
}

const OPTION = "openDatabase.guard";

async function readCatalogue(guard: Guard, connection: DatabaseConnection): Promise<Columns> {
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
  const found = {
    loose: new Set(columns(await read(LOOSE[guard.engine]))),
    generated: new Set((await read<ColumnRow>(GENERATED[guard.engine])).map(nameOf)),
  };
  guard.sampled();
  const rowless =
    guard.engine === "sqlite" ? (await read<{ readonly name: string }>(ROWLESS)).map(({ name }) => name) : [];
  const itself = rowless.find((name) => guard.selfReading.has(name));
  if (itself !== undefined)
    throw new ConfigurationError(
      `${OPTION}.${itself}`,
      "has a rule that looks up other rows of its own table, and a table WITHOUT ROWID has nothing that tells them from the written row: create the table with a rowid",
    );
  if (guard.engine === "postgres") checkFunctions(guard, await read(FUNCTIONS));
  known.set(guard, found);
  return found;
}

interface FunctionRow {
  readonly name: string;
  /** Whether its only parameter is a row, so that PostgreSQL also calls it as a column: `projects.name_of_function`. */
  readonly takesRow: boolean;
}

/** A function may read tables, and these are called by statements that name no function of the database. */
function checkFunctions({ functions }: Guard, rows: readonly FunctionRow[]): void {
  const found = rows.find(
    ({ name, takesRow }) => functions.isOverloaded(name) || (takesRow && !functions.isNamed(name)),
  );
  if (found === undefined) return;
  const reason = functions.isOverloaded(found.name)
    ? "has the name of a built-in one"
    : "is called as a column of a row";
  throw new ConfigurationError(
    "openDatabase.pureFunctions",
    `doesn't name ${found.name}, a function of the database that ${reason}: name it if it reads nothing but its arguments; otherwise, rename it or give it another parameter`,
  );
}

/** Portico's tables are closed unless the guard names them. */
function isOwn(name: string): boolean {
  return name === "users" || name === "account_log" || name.startsWith("portico_");
}

const ROWLESS = "select name from pragma_table_list where wr = 1";

const LOOSE = {
  postgres:
    'select c.relname::text as "table", a.attname::text as name from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid ' +
    "join pg_catalog.pg_type t on t.oid = a.atttypid left join pg_catalog.pg_type b on b.oid = t.typbasetype left join pg_catalog.pg_collation l on l.oid = a.attcollation " +
    "where c.relkind in ('r', 'v', 'm', 'f', 'p') and pg_catalog.pg_table_is_visible(c.oid) and a.attnum > 0 and not a.attisdropped " +
    "and ('citext' in (t.typname, b.typname) or l.collisdeterministic = false)",
  sqlite: "select name as \"table\", sql as name from sqlite_schema where type = 'table' and sql is not null",
} as const;

/** Returns the columns that a statement of CREATE TABLE declares with a collation. */
function collatedColumns(table: string, text: string): readonly string[] {
  const bare = text.replaceAll(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (part) =>
    part.startsWith("'") ? part.replaceAll(/[(),]/g, "") : " ",
  );
  const body = bare.slice(bare.indexOf("(") + 1).replaceAll(/\([^()]*\)/g, "");
  return body
    .split(",")
    .filter((line) => /\bcollate\b[\s"'`[]*(?!binary\b)\w/i.test(line))
    .map(
      (line) => `${table}.${/^\s*(?:"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|(\w+))/.exec(line)?.slice(1).find(Boolean) ?? ""}`,
    );
}

interface ColumnRow {
  readonly table: string;
  /** The column, or for SQLite the statement that created the table. */
  readonly name: string;
}

function nameOf({ table, name }: ColumnRow): string {
  return `${table}.${name}`;
}

const GENERATED = {
  postgres:
    'select c.relname::text as "table", a.attname::text as name from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid ' +
    "where pg_catalog.pg_table_is_visible(c.oid) and a.attgenerated <> ''",
  sqlite:
    "select m.name as \"table\", x.name from sqlite_schema m, pragma_table_xinfo(m.name) x where m.type = 'table' and x.hidden in (2, 3)",
} as const;

const FUNCTIONS =
  "select p.proname::text as name, p.pronargs = 1 and (t.typtype = 'c' or t.typname in ('record', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray')) as \"takesRow\" " +
  "from pg_catalog.pg_proc p left join pg_catalog.pg_type t on t.oid = p.proargtypes[0] " +
  "where pg_catalog.pg_function_is_visible(p.oid) and p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace " +
  "and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')";

const CATALOGUES = {
  postgres: {
    // Tables that need no schema are named without it. Partitions are parts of a table.
    tables:
      "select c.relname::text as name from pg_catalog.pg_class c where c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition " +
      "and pg_catalog.pg_table_is_visible(c.oid) and c.relnamespace = any (select oid from pg_catalog.pg_namespace where nspname = any (current_schemas(false)))",
    columns: (rows: readonly ColumnRow[]) => rows.map(nameOf),
  },
  sqlite: {
    tables:
      "select name from pragma_table_list where schema in ('main', 'temp') and type in ('table', 'view', 'virtual') and name not like 'sqlite\\_%' escape '\\'",
    columns: (rows: readonly ColumnRow[]) => rows.flatMap(({ table, name }) => collatedColumns(table, name)),
  },
} as const;
