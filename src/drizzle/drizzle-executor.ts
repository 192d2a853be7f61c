import { DrizzleQueryError, sql } from "drizzle-orm";
import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type DialectAdapter,
  type KyselyPlugin,
  MysqlAdapter,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryExecutor,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteQueryCompiler,
} from "kysely";
import { isInstance } from "../core/describe-error.ts";
import { warnOfRepetition } from "../sql/database/warn-of-repetition.ts";
import type { SqlDialect } from "../sql/statements/sql-dialect.ts";
import { resultColumns, SELECTED } from "../sql/statements/statement.ts";
import type { OpenQuery } from "./open-query.ts";
import { PLAN_FIELDS, planRow } from "./plan-row.ts";

/**
 * Returns an executor that runs the statements of Kysely on the connection or transaction of a Drizzle query. Drizzle
 * reads rows as lists of values, so the columns of each statement are known in advance.
 */
export function drizzleExecutor(query: OpenQuery, plugins: readonly KyselyPlugin[]): QueryExecutor {
  const [Compiler, Adapter] = DIALECTS[query.dialect];
  const connection = new DrizzleConnection(query);
  const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(connection) };
  return new DefaultQueryExecutor(new Compiler(), new Adapter(), provider, [...plugins]);
}

type Parts = readonly [new () => QueryCompiler, new () => DialectAdapter];

const DIALECTS: Readonly<Record<SqlDialect, Parts>> = {
  postgres: [PostgresQueryCompiler, PostgresAdapter],
  mysql: [MysqlQueryCompiler, MysqlAdapter],
  sqlite: [SqliteQueryCompiler, SqliteAdapter],
};

/** Made with the first statement, because it has effects. */
let warn: ReturnType<typeof warnOfRepetition> | undefined;

class DrizzleConnection implements DatabaseConnection {
  readonly #query: OpenQuery;
  constructor(query: OpenQuery) {
    this.#query = query;
  }

  async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
    warn ??= warnOfRepetition();
    warn?.(compiled.sql);
    const { dialect } = this.#query;
    try {
      if (SelectQueryNode.is(compiled.query) && compiled.query.explain !== undefined) {
        const rows = await this.#query.run(compiled, PLAN_FIELDS);
        return { rows: rows.map((row) => planRow(dialect, row)) as Row[] };
      }
      return { rows: (await this.#query.run(compiled, this.#fieldsOf(compiled))) as Row[] };
    } catch (error) {
      // The error of the driver has a code, and its message does not repeat the parameters.
      throw isInstance(error, DrizzleQueryError) && error.cause !== undefined ? error.cause : error;
    }
  }

  streamQuery(): never {
    throw new TypeError("a Drizzle list is read page by page");
  }

  #fieldsOf({ query }: CompiledQuery): Readonly<Record<string, unknown>> {
    const { fields } = this.#query.config;
    const columns = resultColumns(query);
    return Object.assign({}, ...columns.map((column) => (column === SELECTED ? fields : { [column]: AS_READ })));
  }
}

const AS_READ = sql``;
