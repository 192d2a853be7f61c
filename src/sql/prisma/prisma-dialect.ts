import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { postgresError, unreachable } from "../database/postgres/postgres-error.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";

/** The methods of a `PrismaClient`, or of the client of a transaction, that statements are sent with. */
export interface PrismaQueries {
  $queryRawUnsafe(text: string, ...values: any[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string, ...values: any[]): PromiseLike<number>;
  /** Starts a transaction. The client of a transaction does not have it. */
  $transaction?: any;
}

/**
 * Kysely's dialect for an application with Prisma: statements go through its client, so lists over tables share its
 * connections and, if the client is that of a transaction, see its writes. It runs with Prisma 6.19 (with `engineType = "client"`) and 7. A
 * transaction of Kysely is one of `prisma.$transaction`, with its default time limit of five seconds.
 *
 * @param engine the provider of the Prisma schema; MariaDB is `"mysql"`. @default "postgres"
 *
 * @example
 * ```ts
 * import { Kysely } from "kysely";
 * import { PorticoApp } from "portico";
 * import { type PrismaQueries, prismaDialect, tableHandler } from "portico/sql";
 *
 * declare const prisma: PrismaQueries; // your PrismaClient
 * const database = new Kysely<{ books: { id: number; title: string } }>({ dialect: prismaDialect(prisma) });
 *
 * new PorticoApp().get("/books", ({ response }) =>
 *   response.apaginate(tableHandler(database.selectFrom("books").selectAll())),
 * );
 * ```
 */
export function prismaDialect(prisma: PrismaQueries, engine: SqlDialect = "postgres"): Dialect {
  if (typeof prisma?.$queryRawUnsafe !== "function")
    throw new ConfigurationError("prismaDialect.prisma", "a PrismaClient", prisma);
  if (!Object.hasOwn(PARTS, engine))
    throw new ConfigurationError("prismaDialect.engine", '"postgres", "mysql" or "sqlite"', engine);
  const { Adapter, Compiler, Introspector } = PARTS[engine];
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new PrismaDriver(prisma),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (database: Kysely<any>) => new Introspector(database),
  };
}

const PARTS = {
  postgres: { Adapter: PostgresAdapter, Compiler: PostgresQueryCompiler, Introspector: PostgresIntrospector },
  mysql: { Adapter: MysqlAdapter, Compiler: MysqlQueryCompiler, Introspector: MysqlIntrospector },
  sqlite: { Adapter: SqliteAdapter, Compiler: SqliteQueryCompiler, Introspector: SqliteIntrospector },
} as const;

/** Prisma has its own pool, so a connection is a number of statements, or a transaction. The client is closed by the application. */
class PrismaDriver implements Driver {
  readonly #prisma: PrismaQueries;

  constructor(prisma: PrismaQueries) {
    this.#prisma = prisma;
  }

  async acquireConnection(): Promise<PrismaConnection> {
    return new PrismaConnection(this.#prisma);
  }

  beginTransaction(connection: PrismaConnection, { isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    if (accessMode !== undefined) throw new Error("Prisma starts no transaction with an access mode");
    return connection.begin(isolationLevel);
  }

  commitTransaction(connection: PrismaConnection): Promise<void> {
    return connection.end("commit");
  }

  rollbackTransaction(connection: PrismaConnection): Promise<void> {
    return connection.end("rollback");
  }

  async init(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

class PrismaConnection implements DatabaseConnection {
  readonly #prisma: PrismaQueries;
  #transaction: {
    readonly client: PrismaQueries;
    readonly ended: PromiseWithResolvers<void>;
    readonly done: Promise<void>;
  } | null = null;

  constructor(prisma: PrismaQueries) {
    this.#prisma = prisma;
  }

  /** Prisma ends a transaction when its function does, so the function waits. */
  async begin(isolation: TransactionSettings["isolationLevel"]): Promise<void> {
    if (typeof this.#prisma.$transaction !== "function")
      throw new Error("a client of a Prisma transaction starts no other: pass the PrismaClient to prismaDialect");
    const begun = Promise.withResolvers<PrismaQueries>();
    const ended = Promise.withResolvers<void>();
    const settings = isolation === undefined ? {} : { isolationLevel: LEVELS[isolation] };
    const work = (client: PrismaQueries): Promise<void> => {
      begun.resolve(client);
      return ended.promise;
    };
    const done = Promise.resolve(this.#prisma.$transaction(work, settings) as PromiseLike<void>);
    // A transaction that could not start, or that Prisma ended because of its time limit.
    done.catch(begun.reject);
    this.#transaction = { client: await begun.promise, ended, done };
  }

  async end(way: "commit" | "rollback"): Promise<void> {
    if (this.#transaction === null) return;
    const { ended, done } = this.#transaction;
    this.#transaction = null;
    if (way === "commit") ended.resolve();
    else ended.reject(ROLLBACK);
    await done.catch((error: unknown) => {
      if (error !== ROLLBACK) throw databaseError(error);
    });
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const client = this.#transaction?.client ?? this.#prisma;
    const isWrite = WRITES.has(query.kind) && !("returning" in query && query.returning !== undefined);
    try {
      if (isWrite) return { rows: [], numAffectedRows: BigInt(await client.$executeRawUnsafe(sql, ...parameters)) };
      const rows = (await client.$queryRawUnsafe(sql, ...parameters)) as Record<string, unknown>[];
      return { rows: rows.map(withoutBigints) as R[] };
    } catch (error) {
      throw databaseError(error);
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("Prisma cannot stream a query: read it in pages");
  }
}

const ROLLBACK = new Error("The transaction is rolled back");

const LEVELS: Readonly<Record<NonNullable<TransactionSettings["isolationLevel"]>, string>> = {
  "read uncommitted": "ReadUncommitted",
  "read committed": "ReadCommitted",
  "repeatable read": "RepeatableRead",
  serializable: "Serializable",
  snapshot: "Snapshot",
};

const WRITES = new Set<string>(["InsertQueryNode", "UpdateQueryNode", "DeleteQueryNode", "MergeQueryNode"]);

/** JSON has no bigints, so they are texts, as `pg` returns them. */
function withoutBigints(row: Record<string, unknown>): Record<string, unknown> {
  for (const [column, value] of Object.entries(row)) if (typeof value === "bigint") row[column] = String(value);
  return row;
}

/** Returns the error of the database, which Prisma reports in its own. */
function databaseError(error: unknown): unknown {
  const { meta } = (error ?? {}) as {
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: AdapterError } };
  };
  const { kind, originalCode: code, originalMessage } = meta?.driverAdapterError?.cause ?? {};
  if (kind === "DatabaseNotReachable" || kind === "ConnectionClosed") return unreachable(error);
  if (code === undefined) return error;
  return postgresError(Object.assign(new Error(originalMessage, { cause: error }), { code }));
}

interface AdapterError {
  readonly kind?: string;
  readonly originalCode?: string;
  readonly originalMessage?: string;
}
