import type { Direction, Order } from "../../pagination/keys/order.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { isNullLastByDefault, type SqlDialect } from "../statements/sql-dialect.ts";
import { runRaw } from "../statements/statement.ts";
import type { PlanNeeds } from "./plan-needs.ts";

interface IndexColumn {
  readonly index: string;
  readonly column: string | null;
  readonly direction: Direction;
  /** On PostgreSQL, an index has a place for nulls, which must be that of the order. */
  readonly isNullLast: boolean | null;
}

/**
 * Whether the catalogue has an index for the needs of a query: the columns with one value first, then those of the order.
 * On a table of a few rows, a planner may choose another plan that costs the same there.
 */
export async function hasIndexFor(query: AnyQuery, dialect: SqlDialect, needs: PlanNeeds): Promise<boolean> {
  const { path, order } = needs;
  if (path.length === 0 || order === null) return false;
  const [fragments, values] = INDEXES[dialect](path);
  const found = (await runRaw(query, fragments, values, COLUMNS, true)) as unknown as readonly IndexColumn[];
  const primary = found.filter(({ index }) => index === PRIMARY);
  const indexes = [...Map.groupBy(found, ({ index }) => index).values()];
  // MariaDB and SQLite append the primary key to an index.
  return indexes.some((columns) => serves(dialect === "postgres" ? columns : [...columns, ...primary], needs, order));
}

function serves(columns: readonly IndexColumn[], { equal }: PlanNeeds, order: Order): boolean {
  const lead = new Set(columns.slice(0, equal.length).map(({ column }) => column));
  if (!equal.every((column) => lead.has(column))) return false;
  const rest = columns.slice(equal.length);
  const wanted = order.filter(([column]) => !equal.includes(column));
  if (!wanted.every(([column], at) => rest[at]?.column === column)) return false;
  // An index can be read from both ends.
  return [true, false].some((isForward) =>
    wanted.every(([, way, nulls], at) => {
      const { direction, isNullLast } = rest[at] as IndexColumn;
      const isLast = nulls === undefined ? isNullLastByDefault("postgres", way) : nulls === "nulls last";
      return (direction === way) === isForward && (isNullLast === null || (isNullLast === isLast) === isForward);
    }),
  );
}

const PRIMARY = "PRIMARY";
const COLUMNS = ["index", "column", "direction", "isNullLast"];

/** Returns the text after `select`, split at its parameters, and their values: the columns of the usable indexes of a table. */
const INDEXES: Readonly<
  Record<SqlDialect, (path: readonly string[]) => [fragments: readonly string[], values: readonly unknown[]]>
> = {
  // The options of a column are bits: 1 for descending, and 2 for nulls first.
  postgres: (path) => [
    [
      `i.indexrelid::text as "index", a.attname::text as "column",
        case i.indoption[k.n - 1] & 1 when 0 then 'asc' else 'desc' end as "direction",
        i.indoption[k.n - 1] & 2 = 0 as "isNullLast"
      from pg_catalog.pg_index i cross join unnest(i.indkey::int2[]) with ordinality k(number, n)
      join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
      where i.indrelid = to_regclass(`,
      `) and i.indisvalid and i.indpred is null and i.indexprs is null and k.n <= i.indnkeyatts
      order by i.indexrelid, k.n`,
    ],
    [path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".")],
  ],
  mysql: (path) => [
    [
      `index_name as \`index\`, case when sub_part is null then column_name end as \`column\`,
        case collation when 'D' then 'desc' else 'asc' end as \`direction\`, null as \`isNullLast\`
      from information_schema.statistics
      where table_schema = coalesce(`,
      ", database()) and table_name = ",
      " order by index_name, seq_in_index",
    ],
    [path.length > 1 ? path[0] : null, path.at(-1)],
  ],
  sqlite: (path) => [
    [
      `l.name as "index", c.name as "column", case c."desc" when 0 then 'asc' else 'desc' end as "direction", null as "isNullLast"
      from pragma_index_list(`,
      `) l cross join pragma_index_xinfo(l.name) c
      where l.partial = 0 and c.key = 1
      union all
      select '${PRIMARY}', name, 'asc', null from pragma_table_info(`,
      ") where pk > 0 and lower(type) = 'integer'",
    ],
    [path.at(-1), path.at(-1)],
  ],
};
