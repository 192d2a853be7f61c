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
  /** The number of Portico's policies. */
  readonly own: number;
  /** The policies that allow more, and that Portico has not made. */
  readonly others: readonly string[];
}

export interface PolicyTables extends PolicyCatalogue {
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
  select n.nspname as schema, c.relname as name, pg_catalog.pg_table_is_visible(c.oid) as visible,
    case when c.relkind in ('v', 'm', 'f') then 'view' else 'table' end as kind,
    pg_catalog.row_security_active(c.oid) as "isActive", c.relrowsecurity as "isEnabled",
    coalesce(c.reloptions::text ~ 'security_invoker=(true|on|1)', false) as "isInvoker",
    (select pg_catalog.obj_description(p.oid, 'pg_policy') from pg_catalog.pg_policy p
      where p.polrelid = c.oid and p.polname = 'portico_read') as comment,
    (select count(*)::integer from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname like 'portico\\_%') as own,
    array(select p.polname::text from pg_catalog.pg_policy p
      where p.polrelid = c.oid and p.polpermissive and p.polname not like 'portico\\_%') as others,
    (select coalesce(jsonb_object_agg(a.attname, pg_catalog.format_type(a.atttypid, null)), '{}') from pg_catalog.pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`;
