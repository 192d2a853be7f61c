import { CompiledQuery, Kysely } from "kysely";
import { bareConnection } from "../guard/guarded-dialect.ts";
import type { PlanNeeds } from "../queries/plan-needs.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
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
  const { sql, parameters } = statement;
  switch (dialect) {
    case "postgres":
      return readPostgresPlan(await postgresPlan(database, statement), needs, isDeep);
    case "mysql": {
      const [row] = await runner(database)<{ readonly EXPLAIN: string }>(`explain format=json ${sql}`, parameters);
      return readMysqlPlan(JSON.parse(row?.EXPLAIN ?? "{}"), needs, isDeep);
    }
    case "sqlite": {
      const run = runner(database);
      const steps = await run<SqliteStep>(`explain query plan ${sql}`, parameters);
      return readSqlitePlan(steps, needs, isDeep, await partialIndexes(run));
    }
  }
}

type Run = <Row>(text: string, parameters?: readonly unknown[]) => Promise<readonly Row[]>;

/** A guard would refuse to explain a statement, and the rules are already in it. */
function runner(database: Pick<Kysely<any>, "getExecutor">): Run {
  return <Row>(text: string, parameters: readonly unknown[] = []) =>
    database.getExecutor().provideConnection(async (guarded) => {
      const { rows } = await bareConnection(guarded).executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
      return rows;
    });
}

/** Scans and sorts are disabled, so that they remain only where no index serves the statement. */
async function postgresPlan(database: Kysely<any>, { sql, parameters }: ExplainedStatement): Promise<PostgresNode> {
  // The driver starts the transaction, because the statements of a Prisma client may have different connections.
  const transaction = await Kysely.prototype.startTransaction.call(database).execute();
  try {
    const run = runner(transaction);
    for (const setting of ["enable_seqscan", "enable_sort", "enable_incremental_sort"])
      await run(`set local ${setting} = off`);
    type Explained = { readonly "QUERY PLAN": readonly [{ readonly Plan: PostgresNode }] };
    const [row] = await run<Explained>(`explain (format json) ${sql}`, parameters);
    if (row === undefined) throw new TypeError("PostgreSQL returned no plan");
    return row["QUERY PLAN"][0].Plan;
  } finally {
    await transaction.rollback().execute();
  }
}

async function partialIndexes(run: Run): Promise<ReadonlySet<string>> {
  const rows = await run<{ name: string }>(
    "select name from sqlite_master where type = 'index' and sql like '%) where %'",
  );
  return new Set(rows.map(({ name }) => name));
}
