import type { Pool } from "pg";

const SCHEMA = process.argv.includes("--short") ? "portico_bench_short" : "portico_bench";
/** The table that is measured: many rows of one time, in the order of time. It is kept between runs. */
export const TABLE = `${SCHEMA}.items` as "portico_bench.items";
const ROWS_PER_TIME = 100;

/** Makes the table with its index, unless it is there. */
export async function prepareTable(pool: Pool, rows: number): Promise<void> {
  await pool.query(`create schema if not exists ${SCHEMA}`);
  const { rows: found } = await pool.query<{ rows: string | null }>(
    "select obj_description(to_regclass($1), 'pg_class') as rows",
    [TABLE],
  );
  if (found[0]?.rows === String(rows)) return;
  console.log(`making ${TABLE} with ${rows.toLocaleString("en")} rows; it is kept for the next run`);
  await pool.query(`drop table if exists ${TABLE}`);
  await pool.query(
    `create table ${TABLE} (id bigint not null, created_at timestamptz not null, title text not null, price integer not null)`,
  );
  await pool.query(
    `insert into ${TABLE} select i, timestamptz '2020-01-01' + (i / ${ROWS_PER_TIME}) * interval '1 second' + interval '123 microseconds', 'Title ' || i, i % 1000 from generate_series(1, ${rows}) i`,
  );
  await pool.query(`create unique index items_created_at_id on ${TABLE} (created_at, id)`);
  await pool.query(`vacuum analyze ${TABLE}`);
  await pool.query(`comment on table ${TABLE} is '${rows}'`);
}

/** The place of the row at an offset: found once, and slowly. */
export async function keyAt(pool: Pool, offset: number): Promise<readonly [createdAt: string, id: string]> {
  const { rows } = await pool.query<{ created_at: string; id: string }>(
    // Rows are numbered in the order of the list.
    `select created_at::text, id::text from ${TABLE} where created_at >= timestamptz '2020-01-01' + ($1::bigint / ${ROWS_PER_TIME}) * interval '1 second' order by created_at, id offset ($1::bigint % ${ROWS_PER_TIME}) limit 1`,
    [Math.max(0, offset)],
  );
  const [row] = rows;
  return [row?.created_at ?? "", row?.id ?? ""];
}
