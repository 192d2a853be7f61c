import { sql } from "drizzle-orm";
import type { SqlDialect } from "../sql/statements/sql-dialect.ts";

/** MySQL describes a step of a plan with 12 columns, MariaDB with 10. */
const MAX_COLUMNS = 12;

/** Fields for the columns of a plan, by their position. */
export const PLAN_FIELDS: Readonly<Record<string, unknown>> = Object.fromEntries(
  Array.from({ length: MAX_COLUMNS }, (_, index) => [`~${String.fromCharCode(97 + index)}`, sql``]),
);

/** Returns the columns of a plan that an estimate needs, by their names. */
export function planRow(
  dialect: SqlDialect,
  row: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const values = Object.values(row).filter((value) => value !== undefined);
  if (dialect === "postgres") {
    const [plan] = values;
    // Some drivers leave JSON to Drizzle's columns.
    return { "QUERY PLAN": typeof plan === "string" ? JSON.parse(plan) : plan };
  }
  return values.length < MAX_COLUMNS ? { rows: values[8] } : { rows: values[9], filtered: values[10] };
}
