import { readJson } from "../../core/read-json.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { runRaw } from "../statements/statement.ts";

/** Returns which part of the rows of a table has a value in a column, from 0 to 1. */
export type ValueShares = (value: string) => number;

/**
 * Reads the statistics of a column from PostgreSQL. Returns `null` for a table that has never been analyzed. If the
 * statistics are hidden, as for a table with policies, every value is treated as a rare one.
 */
export async function valueShares(
  query: AnyQuery,
  path: readonly string[],
  column: string,
): Promise<ValueShares | null> {
  const table = path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
  const [row] = await runRaw(query, STATISTICS, [column, table], COLUMNS, true);
  if (row === undefined || Number(row["total"]) < 0) return null;
  const { values, shares } = readJson(String(row["common"])).value as {
    values: string[] | null;
    shares: number[] | null;
  };
  const common = new Map((values ?? []).map((value, index) => [value, shares?.[index] ?? 0]));
  const known = [...common.values()].reduce((sum, share) => sum + share, 0);
  const others = Number(row["kinds"]) - common.size;
  const rest = others >= 1 ? Math.max(0, 1 - known - Number(row["nulls"])) / others : 0;
  return (value) => common.get(value) ?? rest;
}

// The number of different values is negative if it grows with the table. Statistics with the tables that inherit come first.
const STATISTICS = [
  `c.reltuples::float8 as total,
    case when s.n_distinct < 0 then - s.n_distinct * c.reltuples else coalesce(s.n_distinct, 0) end::float8 as kinds,
    coalesce(s.null_frac, 0)::float8 as nulls,
    json_build_object('values', s.most_common_vals::text::text[], 'shares', s.most_common_freqs)::text as common
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join pg_catalog.pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = `,
  " where c.oid = to_regclass(",
  ") order by s.inherited desc nulls last limit 1",
];
const COLUMNS = ["total", "kinds", "nulls", "common"];
