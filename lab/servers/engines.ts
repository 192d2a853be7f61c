import { rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from "kysely";
import { createPool } from "mysql2";
import { Pool } from "pg";
import { namedStatements, type PrismaQueries, prismaDialect } from "../../src/sql/index.ts";
import { nodeSqlite } from "./node-sqlite.ts";

/** A database for one test file, with its own schema, which is removed at the end. */
export interface Engine {
  readonly name: EngineName;
  /** The address for another connection: the schema, or the file of SQLite. */
  readonly address: string;
  readonly database: Kysely<any>;
  /** The statements that were sent, in order. */
  readonly statements: { readonly sql: string; readonly parameters: readonly unknown[] }[];
  close(): Promise<void>;
}

export type EngineName = "PostgreSQL" | "MariaDB" | "SQLite";
export const engineNames: readonly EngineName[] = ["PostgreSQL", "MariaDB", "SQLite"];

/** `npm run test:prisma` sends the statements of PostgreSQL through a generated client. */
const prisma: { openPrisma(config: object): PrismaQueries } | null =
  process.env["PORTICO_PRISMA"] === undefined ? null : await import(process.env["PORTICO_PRISMA"]);

const HOST = "127.0.0.1";
const MEMORY = ":memory:";

/**
 * Opens an engine with an empty schema. A missing server fails the tests everywhere, because a skipped test proves
 * nothing.
 *
 * @param sqliteFile where SQLite keeps its tables if another connection has to see them
 */
export async function openEngine(name: EngineName, schema: string, sqliteFile: string = MEMORY): Promise<Engine> {
  const statements: Engine["statements"][number][] = [];
  const address = name === "SQLite" ? sqliteFile : schema;
  const drop = await CLEANERS[name](address);
  const database = new Kysely<any>({
    dialect: dialectOf(name, address),
    log: ({ query }) => void statements.push({ sql: query.sql, parameters: query.parameters }),
  });
  return {
    name,
    address,
    database,
    statements,
    async close() {
      await database.destroy();
      await drop();
    },
  };
}

/** Another connection to an engine that is open. */
export function dialectOf(name: EngineName, address: string): Dialect {
  if (name === "PostgreSQL" && prisma !== null)
    return prismaDialect(prisma.openPrisma({ ...POSTGRES, max: 4, options: `-c search_path=${address}` }));
  if (name === "PostgreSQL")
    return new PostgresDialect({
      pool: namedStatements(new Pool({ ...POSTGRES, max: 4, options: `-c search_path=${address}` })),
    });
  if (name === "MariaDB")
    return new MysqlDialect({
      pool: createPool({ host: HOST, user: "root", database: address, connectionLimit: 4, supportBigNumbers: true }),
    });
  const file = new DatabaseSync(address);
  if (address !== MEMORY) file.exec("pragma journal_mode = wal; pragma busy_timeout = 5000");
  file.function("visit", { deterministic: false }, () => {
    visits.count++;
    return 1;
  });
  return new SqliteDialect({ database: nodeSqlite(file) });
}

/** How often SQLite has called `visit()`, which counts the rows that a statement reads. */
export const visits: { count: number } = { count: 0 };

const POSTGRES = { host: HOST, user: "postgres", database: "test" };

/** Creates an empty place, and returns a function that removes it. */
const CLEANERS: Readonly<Record<EngineName, (address: string) => Promise<() => Promise<void>>>> = {
  PostgreSQL: async (schema) => {
    const run = async (...statements: readonly string[]): Promise<void> => {
      const pool = new Pool({ ...POSTGRES, max: 1 });
      for (const statement of statements) await pool.query(statement);
      await pool.end();
    };
    await run(`drop schema if exists ${schema} cascade`, `create schema ${schema}`);
    return () => run(`drop schema ${schema} cascade`);
  },
  MariaDB: async (schema) => {
    const run = async (...statements: readonly string[]): Promise<void> => {
      const admin = createPool({ host: HOST, user: "root" }).promise();
      for (const statement of statements) await admin.query(statement);
      await admin.end();
    };
    await run(
      `drop database if exists ${schema}`,
      `create database ${schema} character set utf8mb4 collate utf8mb4_bin`,
    );
    return () => run(`drop database ${schema}`);
  },
  SQLite: async (file) => async () => {
    if (file !== MEMORY) for (const end of ["", "-wal", "-shm"]) await rm(file + end, { force: true });
  },
};

/** Creates a table; column types are spelled as each engine does. */
export async function createTable(
  { database, name }: Pick<Engine, "database" | "name">,
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
  indexes: readonly string[] = [],
): Promise<void> {
  const lines = Object.entries(columns).map(([column, type]) => {
    const isNullable = type.endsWith("?");
    return `${column} ${TYPES[type.replace("?", "") as BaseType][name]}${isNullable ? " null" : " not null"}`;
  });
  await sql.raw(`create table ${table} (${lines.join(", ")})`).execute(database);
  for (const [index, on] of indexes.entries())
    await sql.raw(`create index ${table}_${index} on ${table} (${on})`).execute(database);
}

type BaseType = "key" | "unique" | "int" | "bigint" | "text" | "long" | "time" | "real" | "decimal";
export type ColumnType = BaseType | `${BaseType}?`;

const TYPES: Readonly<Record<BaseType, Readonly<Record<EngineName, string>>>> = {
  key: { PostgreSQL: "integer primary key", MariaDB: "integer primary key", SQLite: "integer primary key" },
  unique: { PostgreSQL: "integer unique", MariaDB: "integer unique", SQLite: "int unique" },
  int: { PostgreSQL: "integer", MariaDB: "integer", SQLite: "integer" },
  bigint: { PostgreSQL: "bigint", MariaDB: "bigint", SQLite: "integer" },
  text: { PostgreSQL: 'text collate "C"', MariaDB: "varchar(100)", SQLite: "text" },
  long: { PostgreSQL: "text", MariaDB: "text", SQLite: "text" },
  time: { PostgreSQL: "timestamptz", MariaDB: "datetime(6)", SQLite: "text" },
  real: { PostgreSQL: "double precision", MariaDB: "double", SQLite: "real" },
  decimal: { PostgreSQL: "numeric(30, 10)", MariaDB: "decimal(30, 10)", SQLite: "numeric" },
};

/** Inserts rows, many at once. */
export async function insertRows(
  { database }: Pick<Engine, "database">,
  table: string,
  rows: readonly object[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += 500)
    await database
      .insertInto(table)
      .values(rows.slice(start, start + 500))
      .execute();
}
