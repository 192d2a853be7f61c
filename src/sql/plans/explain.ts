import { CompiledQuery, type Kysely, sql } from "kysely";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import type { PlanNeeds } from "./plan-needs.ts";
import type { PlanProblem } from "./plan-problem.ts";
import { readMysqlPlan } from "./read-mysql-plan.ts";
import { type PostgresNode, readPostgresPlan } from "./read-postgres-plan.ts";
import { readSqlitePlan, type SqliteStep } from "./read-sqlite-plan.ts";

/** A statement to explain. */
export interface ExplainedStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * The limit of an explained page. Planners compare costs, and most plans cost the same on a small table. PostgreSQL then
 * prefers the index that fits best if it has to read many rows, and MariaDB prefers an index to a sort if it has to read
 * only one. SQLite chooses by rules.
 */
export const EXPLAINED_LIMIT: Readonly<Record<SqlDialect, number>> = { postgres: 1_000_000, mysql: 1, sqlite: 1 };

/** Returns the problems in the plan that the database has for a statement. */
export async function explain(
  database: Kysely<any>,
  dialect: SqlDialect,
  statement: ExplainedStatement,
  needs: PlanNeeds,
  isDeep: boolean,
): Promise<readonly PlanProblem[]> {
  switch (dialect) {
    case "postgres":
      return readPostgresPlan(await postgresPlan(database, statement), needs, isDeep);
    case "mysql": {
      const [row] = await rowsOf<{ readonly EXPLAIN: string }>(database, "explain format=json", statement);
      return readMysqlPlan(JSON.parse(row?.EXPLAIN ?? "{}"), needs, isDeep);
    }
    case "sqlite": {
      const steps = await rowsOf<SqliteStep>(database, "explain query plan", statement);
      return readSqlitePlan(steps, needs, isDeep, await partialIndexes(database));
    }
  }
}

/** Scans and sorts are disabled, so that they remain only where no index serves the statement. */
async function postgresPlan(database: Kysely<any>, statement: ExplainedStatement): Promise<PostgresNode> {
  return database.transaction().execute(async (trx) => {
    for (const setting of ["enable_seqscan", "enable_sort", "enable_incremental_sort"])
      await sql`set local ${sql.raw(setting)} = off`.execute(trx);
    const rows = await rowsOf<{ readonly "QUERY PLAN": readonly [{ readonly Plan: PostgresNode }] }>(
      trx,
      "explain (format json)",
      statement,
    );
    const [row] = rows;
    if (row === undefined) throw new TypeError("PostgreSQL returned no plan");
    return row["QUERY PLAN"][0].Plan;
  });
}

async function partialIndexes(database: Kysely<any>): Promise<ReadonlySet<string>> {
  const query = sql<{ name: string }>`select name from sqlite_master where type = 'index' and sql like '%) where %'`;
  const { rows } = await query.execute(database);
  return new Set(rows.map(({ name }) => name));
}

async function rowsOf<Row>(
  database: Kysely<any>,
  command: string,
  { sql: text, parameters }: ExplainedStatement,
): Promise<readonly Row[]> {
  const { rows } = await database.executeQuery<Row>(CompiledQuery.raw(`${command} ${text}`, [...parameters]));
  return rows;
}
