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
} from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { postgresError, unreachable } from "../database/postgres/postgres-error.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";

/** The methods of a `PrismaClient`, or of the client of a transaction, that statements are sent with. */
export interface PrismaQueries {
  $queryRawUnsafe(text: string, ...values: any[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string, ...values: any[]): PromiseLike<number>;
}

/**
 * Kysely's dialect for an application with Prisma: statements go through its client, so lists over tables share its
 * connections and, if the client is that of a transaction, see its writes. It does not start transactions: use `prismaTransaction`, or start
 * them with `prisma.$transaction`.
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

/** Prisma has its own pool, so all statements share one connection object. The client is closed by the application. */
class PrismaDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(prisma: PrismaQueries) {
    this.#connection = new PrismaConnection(prisma);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error(
      "start the transaction with prismaTransaction or $transaction, and give its client to prismaDialect",
    );
  }

  async init(): Promise<void> {}
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

class PrismaConnection implements DatabaseConnection {
  readonly #prisma: PrismaQueries;

  constructor(prisma: PrismaQueries) {
    this.#prisma = prisma;
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const isWrite = WRITES.has(query.kind) && !("returning" in query && query.returning !== undefined);
    try {
      if (isWrite)
        return { rows: [], numAffectedRows: BigInt(await this.#prisma.$executeRawUnsafe(sql, ...parameters)) };
      const rows = (await this.#prisma.$queryRawUnsafe(sql, ...parameters)) as Record<string, unknown>[];
      return { rows: rows.map(withoutBigints) as R[] };
    } catch (error) {
      throw databaseError(error);
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("Prisma cannot stream a query: read it in pages");
  }
}

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
