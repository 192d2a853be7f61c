import { CompiledQuery, type DatabaseConnection } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { type PolicyCatalogue, quoted } from "./policy-expression.ts";

/** A table of the catalogue, with its policies. */
export interface PolicedTable {
  readonly kind: "table" | "view";
  /** Whether the current role is subject to its policies. */
  readonly isActive: boolean;
  /** Whether policies are enabled, for some roles at least. */
  readonly isEnabled: boolean;
  /** Whether a view reads its tables with the rights of its caller. */
  readonly isInvoker: boolean;
  /** The comment on Portico's policy for reading. */
  readonly comment: string | null;
  /** Whether the policies concern the owner of the table, too. */
  readonly isForced: boolean;
  /** Portico's policies. */
  readonly own: readonly WrittenPolicy[];
  /** The policies that allow more, and that Portico has not made. */
  readonly others: readonly string[];
}

/** A policy that Portico has made. */
export interface WrittenPolicy {
  readonly name: string;
  /** `"select"`, for example. */
  readonly command: string;
  readonly using: string | null;
  readonly check: string | null;
}

export interface PolicyTables extends PolicyCatalogue {
  /** The signatures of Portico's functions, as `PolicyExpression` has them. */
  readonly functions: ReadonlySet<string>;
  /** Returns a table. Throws for an unknown one. */
  tableOf(table: string): PolicedTable;
}

interface TableRow extends PolicedTable {
  readonly schema: string;
  readonly name: string;
  readonly visible: boolean;
  readonly columns: Readonly<Record<string, string>>;
}

/** Reads the tables of the database, the types of their columns and their policies. */
export async function readPolicyCatalogue(connection: DatabaseConnection): Promise<PolicyTables> {
  const { rows } = await connection.executeQuery<TableRow>(CompiledQuery.raw(TABLES));
  const written = await connection.executeQuery<FunctionRow>(CompiledQuery.raw(FUNCTIONS));
  const tables = new Map<string, TableRow>();
  for (const row of rows) {
    tables.set(`${row.schema}.${row.name}`, row);
    if (row.visible) tables.set(row.name, row);
  }
  const found = (table: string): TableRow => {
    const row = tables.get(table);
    if (row === undefined) throw new ConfigurationError("openDatabase.policies", `found no table named ${table}`);
    return row;
  };
  return {
    functions: new Set(written.rows.map(({ schema, name }) => `${quoted(schema)}.${name}(jsonb)`)),
    tableOf: found,
    nameOf: (table) => `${quoted(found(table).schema)}.${quoted(found(table).name)}`,
    schemaOf: (table) => quoted(found(table).schema),
    typeOf(table, column) {
      const type = found(table).columns[column];
      if (type === undefined)
        throw new ConfigurationError("openDatabase.policies", `found no column named ${table}.${column}`);
      return type;
    },
  };
}

const TABLES = `
  select n.nspname::text as schema, c.relname::text as name, pg_catalog.pg_table_is_visible(c.oid) as visible,
    case when c.relkind in ('v', 'm', 'f') then 'view' else 'table' end as kind,
    pg_catalog.row_security_active(c.oid) as "isActive", c.relrowsecurity as "isEnabled",
    coalesce(c.reloptions::text ~ 'security_invoker=(true|on|1)', false) as "isInvoker",
    (select pg_catalog.obj_description(p.oid, 'pg_policy') from pg_catalog.pg_policy p
      where p.polrelid = c.oid and p.polname = 'portico_read') as comment,
    c.relforcerowsecurity as "isForced",
    (select coalesce(jsonb_agg(jsonb_build_object('name', p.polname,
      'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check', pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)) order by p.oid), '[]')
      from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname like 'portico\\_%') as own,
    array(select p.polname::text from pg_catalog.pg_policy p
      where p.polrelid = c.oid and p.polpermissive and p.polname not like 'portico\\_%') as others,
    (select coalesce(jsonb_object_agg(a.attname, pg_catalog.format_type(a.atttypid, null)), '{}') from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`;

interface FunctionRow {
  readonly schema: string;
  readonly name: string;
}

const FUNCTIONS = `
  select n.nspname::text as schema, f.proname::text as name from pg_catalog.pg_proc f join pg_catalog.pg_namespace n on n.oid = f.pronamespace
  where f.proname ~ '^portico_[0-9a-f]{12}$' and f.prosecdef and pg_catalog.pg_get_function_identity_arguments(f.oid) = 'caller jsonb'`;
