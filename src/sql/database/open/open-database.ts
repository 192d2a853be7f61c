import { basename } from "node:path";
import { type Dialect, Kysely, type PostgresPool } from "kysely";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import {
  anything,
  callable,
  flag,
  listOf,
  type OptionRule,
  optional,
  optionRule,
  type Resolved,
  resolveOptions,
  secondsUpTo,
  thing,
} from "../../../core/resolve-options.ts";
import type { Caller } from "../../../kernel/identity/identity.ts";
import { FIRST_OF_DATABASE } from "../../guard/check-subqueries.ts";
import { Guard as TableGuard } from "../../guard/guard.ts";
import { GuardedDialect } from "../../guard/guarded-dialect.ts";
import { isFunctionName } from "../../guard/known-functions.ts";
import { dialectOf } from "../../statements/sql-dialect.ts";
import type { Database, SentStatement } from "../database.ts";
import { parseDatabaseUrl } from "../database-url.ts";
import type { Guard } from "../guard.ts";
import { pluggedIn } from "../keeping-plugins.ts";
import { NodeSqliteDialect } from "../node-sqlite-dialect.ts";
import { PoolPart } from "../pool-part.ts";
import type { PorticoTables } from "../portico-tables.ts";
import { openPool, postgresListen, usePool } from "../postgres/open-pool.ts";
import { openReplicas, positionsOf } from "../replicas/open-replicas.ts";
import { TrackedWrites } from "../replicas/tracked-writes.ts";
import { statementLog } from "../statement-log.ts";
import { pooledDatabase } from "./pooled-database.ts";
import { ReachablePostgres } from "./reachable-postgres.ts";

export interface DatabaseOptions<DB = any> {
  /**
   * The rules of each table. Every statement of every handle then reads and writes only rows that the caller of the request or
   * operation may read and write, wherever the table appears in it. Outside a request, guarded tables need `database.as(user)` or
   * `database.asSystem("why")`. @default none
   */
  readonly guard?: Guard<DB>;
  /**
   * Whether the rules of `guard` are also policies of PostgreSQL for row-level security, which `portico rls --write` writes to a
   * migration. A statement without the conditions of the guard then reads and writes no other rows either. `true`, or sample users
   * whose conditions have all shapes that the rules return. @default false
   */
  readonly policies?: boolean | readonly Caller[];
  /**
   * Names of functions that statements through `guard` may call besides those of the database that read nothing but their
   * arguments, such as `"similarity"` or `"public.distance"`. The guard doesn't look into them: a function that reads a table
   * returns rows of every tenant. @default none
   */
  readonly pureFunctions?: readonly string[];
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
   * The URL of PostgreSQL itself, if `source` leads to a pooler in transaction mode, such as PgBouncer: events need one
   * connection that stays with its client. @default the URL in `source`
   */
  readonly directUrl?: string;
  /**
   * How far a replica may be behind the primary, in seconds. A replica that is further behind is left out until it has caught up.
   * @default 10
   */
  readonly maxLagSeconds?: number;
  /**
   * Called after every statement, including failed ones, for example to count them or to log slow ones. On PostgreSQL,
   * the start and the end of a transaction are statements too. An exception in it becomes a process warning. @default
   * none
   */
  readonly onStatement?: (statement: SentStatement) => void;
}

/** A PostgreSQL server and its read replicas. */
export interface DatabaseServers {
  /** The URL of the server that takes the writes. Without replicas, it can also be that of SQLite. */
  readonly primary: string;
  /** The URLs of streaming replicas. Each leads to one server, not to a load balancer. */
  readonly replicas: readonly string[];
}

/**
 * Opens PostgreSQL (`postgres://user@host/name`, with the package `pg`) or SQLite (`sqlite:shop.db`,
 * `sqlite::memory:`). The first statement connects. After a restart of PostgreSQL, it reconnects by itself. Until then,
 * statements reject with status 503.
 *
 * An existing pool of `pg` or Kysely instance can be given instead of a URL. It keeps its settings, and `destroy` does
 * not close it. `poolSize` then says how many connections a Kysely instance has, and `directUrl` where it gets events from.
 *
 * With `{ primary, replicas }`, each server has its own pool. Everything uses the primary, except the lists and loaders that
 * read with `database.replica()`.
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
export function openDatabase<DB>(
  source: Kysely<DB>,
  options?: Pick<DatabaseOptions, "poolSize" | "directUrl">,
): Database<DB>;
export function openDatabase<DB = PorticoTables>(
  source: string | PostgresPool | DatabaseServers,
  options?: DatabaseOptions<NoInfer<DB>>,
): Database<DB>;
export function openDatabase(source: unknown, given: DatabaseOptions = {}): Database {
  const settings = resolveOptions("openDatabase", given, rules);
  const servers = isServers(source) ? resolveOptions("openDatabase", source, serverRules) : null;
  if (servers === null) refuse(given, ["maxLagSeconds"], "for replicas");
  if (isKysely(source)) return fromKysely(source, settings, given);
  if (isPool(source)) return fromPool(source, settings, given);
  const where = parseDatabaseUrl(servers === null ? source : servers.primary);
  const replicas = servers?.replicas ?? [];
  if (replicas.length > 0) refuse(given, ["policies"], "of a database without replicas");
  if (where.engine === "postgres") return openPostgres(where.connectionString, replicas, settings, given);
  if (replicas.length > 0) throw new ConfigurationError("openDatabase.replicas", "is an option for PostgreSQL");
  return openSqlite(where.file, settings, given);
}

type Settings = Resolved<typeof rules>;

function openSqlite(file: string, { timeoutSeconds, onStatement }: Settings, given: DatabaseOptions): Database {
  refuse(given, ["directUrl"], "for PostgreSQL");
  const timeoutMs = timeoutSeconds * 1000;
  const part = new PoolPart(basename(file));
  const dialect = guarded(new NodeSqliteDialect({ file, timeoutMs, part }), guardOf(given, "sqlite"));
  return pooledDatabase(logged(dialect, onStatement), {
    engine: "sqlite",
    part,
    hasRefusedWrites: () => false,
    maxTransactions: 1,
    timeoutMs,
    listen: null,
    replicas: null,
    isOwner: true,
  });
}

function openPostgres(
  connectionString: string,
  replicas: readonly string[],
  settings: Settings,
  given: DatabaseOptions,
): Database {
  const guard = guardOf(given, "postgres");
  const { poolSize, timeoutSeconds, statementSeconds, namedStatements, directUrl, maxLagSeconds, onStatement } =
    settings;
  const timeoutMs = timeoutSeconds * 1000;
  const pool = { connectionString, poolSize, timeoutMs, deadlineMs: statementSeconds * 1000, namedStatements };
  const maxLagMs = maxLagSeconds * 1000;
  const positions = replicas.length === 0 ? null : positionsOf({ maxLagMs });
  const part = new PoolPart(poolName(connectionString));
  const dialect = new ReachablePostgres(() => openPool(pool), part, positions && new TrackedWrites(positions));
  const primary = logged(guarded(dialect, guard), onStatement);
  const { adapter } = primary.getExecutor();
  const dialectOn = (url: string, size: number, on: PoolPart): ReachablePostgres =>
    new ReachablePostgres(() => openPool({ ...pool, connectionString: url, poolSize: size }), on);
  // No request uses these connections, so their part is never shown: the state of each replica is.
  const watch = (url: string): Kysely<any> => new Kysely({ dialect: dialectOn(url, 1, new PoolPart(poolName(url))) });
  const replicaParts = new Map(replicas.map((url) => [url, new PoolPart(poolName(url))]));
  const open = (url: string): Kysely<any> => {
    const replica = dialectOn(url, poolSize, replicaParts.get(url) as PoolPart);
    // `watchStatements` recognises the statements of a database by its adapter.
    return logged(Object.assign(replica, { createAdapter: () => adapter }), onStatement);
  };
  return pooledDatabase(primary, {
    engine: "postgres",
    part,
    hasRefusedWrites: () => dialect.hasRefusedWrites,
    maxTransactions: transactionsOf(poolSize),
    timeoutMs,
    listen: postgresListen({ connectionString: directUrl ?? connectionString }, timeoutMs),
    replicas:
      positions &&
      openReplicas(primary, { primaryUrl: connectionString, urls: replicas, maxLagMs, open, watch, guard }, positions),
    isOwner: true,
  });
}

function fromPool(pool: PostgresPool, settings: Settings, given: DatabaseOptions): Database {
  refuse(given, ["poolSize", "statementSeconds"], "of a pool that already exists: set it there");
  const timeoutMs = settings.timeoutSeconds * 1000;
  const { connectionString, host = "localhost", port = 5432, database = "" } = pool.options as PoolPlace;
  const part = new PoolPart(
    connectionString === undefined ? `${host}:${port}/${database}` : poolName(connectionString),
  );
  const dialect = new ReachablePostgres(async () => usePool(pool, settings), part);
  return pooledDatabase(logged(guarded(dialect, guardOf(given, "postgres")), settings.onStatement), {
    engine: "postgres",
    part,
    hasRefusedWrites: () => dialect.hasRefusedWrites,
    maxTransactions: transactionsOf((pool.options as { readonly max?: number }).max ?? settings.poolSize),
    timeoutMs,
    listen: postgresListen(
      settings.directUrl === undefined ? pool.options : { connectionString: settings.directUrl },
      timeoutMs,
    ),
    replicas: null,
    isOwner: false,
  });
}

function fromKysely(kysely: Kysely<any>, settings: Settings, given: DatabaseOptions): Database {
  refuse(given, ["statementSeconds", "namedStatements", "onStatement"], "of a Kysely instance: set it there");
  refuse(
    given,
    ["guard", "policies", "pureFunctions"],
    "of a URL or a pool, because a Kysely instance has other ways to its tables",
  );
  const engine = dialectOf(kysely.selectFrom("any").selectAll().limit(1).compile().sql);
  if (engine === "mysql" || kysely.isTransaction)
    throw new ConfigurationError(
      "openDatabase.source",
      "must be a Kysely instance on PostgreSQL or SQLite, not a transaction",
    );
  const { directUrl } = settings;
  const timeoutMs = settings.timeoutSeconds * 1000;
  if (engine === "sqlite") refuse(given, ["directUrl"], "for PostgreSQL");
  // Kysely returns a copy, so the given one is not changed.
  const database = pooledDatabase(kysely.withoutPlugins(), {
    engine,
    part: new PoolPart("kysely"),
    hasRefusedWrites: () => false,
    maxTransactions: engine === "sqlite" ? 1 : transactionsOf(settings.poolSize),
    timeoutMs,
    listen: directUrl === undefined ? null : postgresListen({ connectionString: directUrl }, timeoutMs),
    replicas: null,
    isOwner: false,
  });
  return pluggedIn(database, kysely.getExecutor().plugins);
}

/** The options of a pool that name its server. */
interface PoolPlace {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
}

/** The server and the database, in the form of OpenTelemetry's conventions. */
function poolName(connectionString: string): string {
  if (!URL.canParse(connectionString)) return "postgres";
  const { hostname, port, pathname } = new URL(connectionString);
  return `${hostname || "localhost"}:${port || 5432}${pathname}`;
}

/** A fifth of the connections, at least one, is left to statements outside transactions. */
function transactionsOf(poolSize: number): number {
  return Math.max(1, poolSize - Math.max(1, Math.floor(poolSize / 5)));
}

function guardOf(
  { guard, policies = false, pureFunctions }: DatabaseOptions,
  engine: Database["engine"],
): TableGuard | null {
  if (policies !== false && engine === "sqlite")
    throw new ConfigurationError("openDatabase.policies", "is an option for PostgreSQL");
  if (policies !== false && guard === undefined)
    throw new ConfigurationError("openDatabase.policies", "requires the option guard, whose rules they contain");
  if (guard === undefined && pureFunctions !== undefined)
    throw new ConfigurationError("openDatabase.pureFunctions", "requires the option guard, whose statements call them");
  if (guard === undefined) return null;
  return new TableGuard(guard, engine, policies === false ? null : policies === true ? [] : policies, pureFunctions);
}

function guarded(dialect: Dialect, guard: TableGuard | null): Dialect {
  return guard === null ? dialect : new GuardedDialect(dialect, guard);
}

function logged(dialect: Dialect, onStatement: Settings["onStatement"]): Kysely<any> {
  const log = statementLog(onStatement);
  const plugins = dialect instanceof GuardedDialect ? [FIRST_OF_DATABASE] : [];
  return new Kysely({ dialect, plugins, ...(log === null ? {} : { log }) });
}

function refuse(given: DatabaseOptions, names: readonly (keyof DatabaseOptions)[], reason: string): void {
  const name = names.find((one) => given[one] !== undefined);
  if (name !== undefined) throw new ConfigurationError(`openDatabase.${name}`, `is an option ${reason}`);
}

function isKysely(source: unknown): source is Kysely<any> {
  return typeof (source as Partial<Kysely<any>> | null)?.getExecutor === "function";
}

function isServers(source: unknown): source is DatabaseServers {
  return typeof source === "object" && source !== null && "primary" in source;
}

function isPool(source: unknown): source is PostgresPool {
  const { connect, options } = (source ?? {}) as Partial<PostgresPool>;
  return typeof connect === "function" && typeof options === "object";
}

const twoOrMore: OptionRule<number> = optionRule(
  "a whole number, 2 or more",
  (value) => Number.isSafeInteger(value) && (value as number) >= 2,
);

const secondsOrNone: OptionRule<number> = optionRule(
  "a number of seconds from 0 to 86,400",
  (value) => typeof value === "number" && value >= 0 && value <= 86_400,
);

const users: OptionRule<boolean | readonly Caller[]> = optionRule(
  "true, or a list of sample users",
  (value) =>
    typeof value === "boolean" ||
    (Array.isArray(value) && value.every((user: Partial<Caller> | null) => typeof user?.isAuthenticated === "boolean")),
);

const isPostgresUrl = (value: unknown): boolean =>
  typeof value === "string" && /^postgres(?:ql)?:/.test(value) && URL.canParse(value);

const postgresUrl: OptionRule<string> = thing("a URL such as postgres://user@host/name", isPostgresUrl);

const postgresUrls: OptionRule<readonly string[]> = {
  ...listOf<string>("a list of URLs such as postgres://user@host/name", isPostgresUrl),
  isSecret: true,
};

const serverRules = {
  // `parseDatabaseUrl` checks it.
  primary: anything,
  replicas: optional(postgresUrls, []),
};

const rules = {
  // `TableGuard` checks it.
  guard: anything,
  policies: optional(users, false),
  pureFunctions: optional(listOf<string>('a list of names of functions, such as "similarity"', isFunctionName), []),
  poolSize: optional(twoOrMore, 10),
  timeoutSeconds: optional(secondsUpTo(600), 10),
  statementSeconds: optional(secondsOrNone, 20),
  namedStatements: optional(flag, true),
  directUrl: postgresUrl,
  maxLagSeconds: optional(secondsUpTo(600), 10),
  onStatement: callable as OptionRule<NonNullable<DatabaseOptions["onStatement"]>>,
};
