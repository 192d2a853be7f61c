import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { runRaw } from "../statements/statement.ts";
import { QueryColumns } from "./query-columns.ts";

/** Returns the number of rows that the planner expects, or `null` if it has no statistics. */
export async function estimateRows(query: AnyQuery, dialect: SqlDialect): Promise<number | null> {
  const estimate = await ESTIMATES[dialect](query.clearOrderBy());
  return estimate === null || !Number.isFinite(estimate) ? null : Math.round(estimate);
}

const ESTIMATES: Readonly<Record<SqlDialect, (query: AnyQuery) => Promise<number | null>>> = {
  postgres: async (query) => {
    const [row] = await query.explain<{ "QUERY PLAN": readonly { Plan: { "Plan Rows": number } }[] }>("json");
    return row?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? null;
  },
  mysql: async (query) => {
    const steps = await query.explain<{ rows: number | string | null; filtered?: number | string | null }>();
    // One line for each joined table, with the rows that it adds to the previous ones.
    return steps.reduce(
      (product, { rows, filtered }) => product * Number(rows ?? 1) * (Number(filtered ?? 100) / 100),
      1,
    );
  },
  sqlite: async (query) => {
    // The statistics of ANALYZE cover whole tables only.
    const { where, joins, groupBy, having, setOperations } = query.toOperationNode();
    const table = new QueryColumns(query).mainTable?.table;
    if ([where, joins, groupBy, having, setOperations].some((part) => part !== undefined) || table === undefined)
      return null;
    const rows = await runRaw(
      query,
      ["stat from sqlite_stat1 where tbl = ", " limit 1"],
      [table],
      ["stat"],
      true,
    ).catch(() => []);
    const stat = rows[0]?.["stat"];
    return typeof stat === "string" ? Number.parseInt(stat, 10) : null;
  },
};
