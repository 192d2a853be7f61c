import { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from "kysely";
import { createPool } from "mysql2";
import { Pool } from "pg";
import { namedStatements } from "../../src/sql/index.ts";
import { nodeSqlite } from "./node-sqlite.ts";

/** A database for one test file: with a schema of its own, which goes at the end. */
export interface Engine {
  readonly name: EngineName;
  readonly database: Kysely<any>;
  /** The statements that were sent, in order. */
  readonly statements: { readonly sql: string; readonly parameters: readonly unknown[] }[];
  close(): Promise<void>;
}

export type EngineName = "PostgreSQL" | "MariaDB" | "SQLite";
export const engineNames: readonly EngineName[] = ["PostgreSQL", "MariaDB", "SQLite"];

const HOST = "127.0.0.1";

/** Opens an engine. A server that is not there fails the tests in CI; elsewhere, too: what is skipped proves nothing. */
export async function openEngine(name: EngineName, schema: string): Promise<Engine> {
  const statements: Engine["statements"][number][] = [];
  const { dialect, drop } = await OPENERS[name](schema);
  const database = new Kysely<any>({
    dialect,
    log: ({ query }) => void statements.push({ sql: query.sql, parameters: query.parameters }),
  });
  return {
    name,
    database,
    statements,
    async close() {
      await drop(database);
      await database.destroy();
    },
  };
}

interface Opened {
  readonly dialect: Dialect;
  readonly drop: (database: Kysely<any>) => Promise<unknown>;
}

const OPENERS: Readonly<Record<EngineName, (schema: string) => Promise<Opened>>> = {
  PostgreSQL: async (schema) => {
    const pool = new Pool({
      host: HOST,
      user: "postgres",
      database: "test",
      max: 4,
      options: `-c search_path=${schema}`,
    });
    await pool.query(`drop schema if exists ${schema} cascade`);
    await pool.query(`create schema ${schema}`);
    return {
      dialect: new PostgresDialect({ pool: namedStatements(pool) }),
      drop: (database) => sql.raw(`drop schema ${schema} cascade`).execute(database),
    };
  },
  MariaDB: async (schema) => {
    const admin = createPool({ host: HOST, user: "root" }).promise();
    await admin.query(`drop database if exists ${schema}`);
    await admin.query(`create database ${schema} character set utf8mb4 collate utf8mb4_bin`);
    await admin.end();
    const pool = createPool({
      host: HOST,
      user: "root",
      database: schema,
      connectionLimit: 4,
      supportBigNumbers: true,
    });
    return {
      dialect: new MysqlDialect({ pool }),
      drop: (database) => sql.raw(`drop database ${schema}`).execute(database),
    };
  },
  SQLite: async () => ({
    dialect: new SqliteDialect({ database: nodeSqlite(new DatabaseSync(":memory:")) }),
    drop: async () => {},
  }),
};

/** Creates a table; column types are spelled as each engine does. */
export async function createTable(
  { database, name }: Engine,
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

type BaseType = "key" | "unique" | "int" | "bigint" | "text" | "time" | "real" | "decimal";
export type ColumnType = BaseType | `${BaseType}?`;

const TYPES: Readonly<Record<BaseType, Readonly<Record<EngineName, string>>>> = {
  key: { PostgreSQL: "integer primary key", MariaDB: "integer primary key", SQLite: "integer primary key" },
  unique: { PostgreSQL: "integer unique", MariaDB: "integer unique", SQLite: "int unique" },
  int: { PostgreSQL: "integer", MariaDB: "integer", SQLite: "integer" },
  bigint: { PostgreSQL: "bigint", MariaDB: "bigint", SQLite: "integer" },
  text: { PostgreSQL: 'text collate "C"', MariaDB: "varchar(100)", SQLite: "text" },
  time: { PostgreSQL: "timestamptz", MariaDB: "datetime(6)", SQLite: "text" },
  real: { PostgreSQL: "double precision", MariaDB: "double", SQLite: "real" },
  decimal: { PostgreSQL: "numeric(30, 10)", MariaDB: "decimal(30, 10)", SQLite: "numeric" },
};

/** Inserts rows, many at once. */
export async function insertRows({ database }: Engine, table: string, rows: readonly object[]): Promise<void> {
  for (let start = 0; start < rows.length; start += 500)
    await database
      .insertInto(table)
      .values(rows.slice(start, start + 500))
      .execute();
}
