import { callable, flag, type OptionRule, optional, optionRule, resolveOptions } from "../../core/resolve-options.ts";
import type { PorticoTables } from "../migrations/portico-tables.ts";
import { type Database, PooledDatabase, type SentStatement } from "./database.ts";
import { parseDatabaseUrl } from "./database-url.ts";
import { NodeSqliteDialect } from "./node-sqlite-dialect.ts";
import { postgresListen, ReachablePostgres } from "./reachable-postgres.ts";

export interface DatabaseOptions {
  /**
   * The maximum number of connections to PostgreSQL, 2 or more. A fifth of them, at least one, is never used by a
   * transaction. @default 10
   */
  readonly poolSize?: number;
  /** How long a statement or a transaction waits for a connection or a lock, in seconds. @default 10 */
  readonly timeoutSeconds?: number;
  /**
   * How long a statement may run on PostgreSQL, in seconds. For a stream, the limit applies to each read. A statement
   * that takes longer fails with status 503, is cancelled on the server, and its connection is replaced. 0 disables the
   * limit. `migrate` has none. @default 20
   */
  readonly statementSeconds?: number;
  /** Whether lists use named prepared statements, which some PostgreSQL proxies do not support. @default true */
  readonly namedStatements?: boolean;
  /**
   * Called after every statement, including failed ones, for example to count them or to log slow ones. On PostgreSQL,
   * the start and the end of a transaction are statements too. An exception in it becomes a process warning. @default
   * none
   */
  readonly onStatement?: (statement: SentStatement) => void;
}

/**
 * Opens PostgreSQL (`postgres://user@host/name`, with the package `pg`) or SQLite (`sqlite:shop.db`,
 * `sqlite::memory:`). The first statement connects. After a restart of PostgreSQL, it reconnects by itself. Until then,
 * statements reject with status 503.
 *
 * Throws `ConfigurationError` for any other URL, and shows it without its password.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { openDatabase } from "portico/sql";
 *
 * const database = openDatabase(env("DATABASE_URL", "sqlite:shop.db"));
 *
 * const app = new PorticoApp({ health: { checks: { database: () => database.ping() } } });
 * app.onClose(() => database.destroy());
 * ```
 */
export function openDatabase<DB extends PorticoTables = PorticoTables>(
  url: string,
  options: DatabaseOptions = {},
): Database<DB> {
  const { poolSize, timeoutSeconds, statementSeconds, namedStatements, onStatement } = resolveOptions(
    "openDatabase",
    options,
    rules,
  );
  const where = parseDatabaseUrl(url);
  const timeoutMs = timeoutSeconds * 1000;
  if (where.engine === "sqlite") {
    const dialect = new NodeSqliteDialect({ file: where.file, timeoutMs });
    return new PooledDatabase<DB>({
      engine: "sqlite",
      dialect,
      hasRefusedWrites: () => false,
      maxTransactions: 1,
      timeoutMs,
      listen: null,
      onStatement,
    });
  }
  const { connectionString } = where;
  const postgres = { connectionString, poolSize, timeoutMs, deadlineMs: statementSeconds * 1000, namedStatements };
  const dialect = new ReachablePostgres(postgres);
  return new PooledDatabase<DB>({
    engine: "postgres",
    dialect,
    hasRefusedWrites: () => dialect.hasRefusedWrites,
    maxTransactions: poolSize - Math.max(1, Math.floor(poolSize / 5)),
    timeoutMs,
    listen: postgresListen(postgres),
    onStatement,
  });
}

const twoOrMore: OptionRule<number> = optionRule(
  "a whole number, 2 or more",
  (value) => Number.isSafeInteger(value) && (value as number) >= 2,
);

const someSeconds: OptionRule<number> = optionRule(
  "a number of seconds above 0, up to 600",
  (value) => typeof value === "number" && value > 0 && value <= 600,
);

const secondsOrNone: OptionRule<number> = optionRule(
  "a number of seconds from 0 to 86,400",
  (value) => typeof value === "number" && value >= 0 && value <= 86_400,
);

const rules = {
  poolSize: optional(twoOrMore, 10),
  timeoutSeconds: optional(someSeconds, 10),
  statementSeconds: optional(secondsOrNone, 20),
  namedStatements: optional(flag, true),
  onStatement: callable as OptionRule<NonNullable<DatabaseOptions["onStatement"]>>,
};
