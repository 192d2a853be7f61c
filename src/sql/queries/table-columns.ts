import { readFrom } from "../database/replicas/read-from.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { runRaw } from "../statements/statement.ts";

/** A table as a query names it. */
export interface TableName {
  readonly schema: string | undefined;
  readonly table: string;
}

/** The catalogue entry of a column. */
export interface ColumnFacts {
  readonly isNotNull: boolean;
  /** Whether it is an alias of SQLite's rowid. */
  readonly isRowid: boolean;
  /** The type without its length, as SQL spells it in a cast. In lower case, except on PostgreSQL. */
  readonly type: string;
}

/** Returns the columns of a table, read with the query's executor, or an empty result if it is not a table. */
export async function tableColumns(
  query: AnyQuery,
  dialect: SqlDialect,
  name: TableName,
): Promise<ReadonlyMap<string, ColumnFacts>> {
  const rows = await CATALOGUES[dialect](query, name);
  return new Map(
    rows.map(({ name: column, type, required, isRowid = false }) => [column, { type, isNotNull: required, isRowid }]),
  );
}

interface CatalogueRow {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly isRowid?: boolean;
}

const CATALOGUES: Readonly<Record<SqlDialect, (query: AnyQuery, name: TableName) => Promise<readonly CatalogueRow[]>>> =
  {
    postgres: async (query, { schema, table }) => {
      const fragments = [
        "a.attname::text as name, pg_catalog.format_type(a.atttypid, -1) as type, a.attnotnull as required from pg_catalog.pg_attribute a where a.attrelid = to_regclass(",
        ") and a.attnum > 0 and not a.attisdropped",
      ];
      const path = [schema, table].flatMap((part) => (part === undefined ? [] : [`"${part.replaceAll('"', '""')}"`]));
      // A replica may not have the columns of the last migration yet, and what is read here is believed for a while.
      return (await readFrom("primary", () =>
        runRaw(query, fragments, [path.join(".")], ["name", "type", "required"], true),
      )) as unknown as CatalogueRow[];
    },
    mysql: async (query, { schema, table }) => {
      const fragments = [
        "column_name as name, lower(data_type) as type, column_type as whole, is_nullable as nullable from information_schema.columns where table_schema = coalesce(",
        ", database()) and table_name = ",
        "",
      ];
      const rows = await runRaw(query, fragments, [schema ?? null, table], ["name", "type", "whole", "nullable"], true);
      return rows.map(({ name, type, whole, nullable }) => ({
        name: String(name),
        type: String(whole).includes("unsigned") ? `${String(type)} unsigned` : String(type),
        required: nullable === "NO",
      }));
    },
    sqlite: async (query, { schema, table }) => {
      const fragments = ['name, lower(type) as type, "notnull" as required, pk from pragma_table_info(', ", ", ")"];
      const rows = await runRaw(query, fragments, [table, schema ?? "main"], ["name", "type", "required", "pk"], true);
      const keys = rows.filter(({ pk }) => Number(pk) > 0).length;
      return rows.map(({ name, type, required, pk }) => {
        const isRowid = keys === 1 && Number(pk) === 1 && type === "integer";
        // In SQLite, any other primary key may contain nulls.
        return { name: String(name), type: String(type), required: Number(required) === 1 || isRowid, isRowid };
      });
    },
  };
