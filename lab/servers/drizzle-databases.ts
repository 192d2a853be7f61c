import { DatabaseSync } from "node:sqlite";
import * as mysql from "drizzle-orm/mysql-core";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import * as pg from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";
import { drizzle as drizzleSqlite } from "drizzle-orm/sqlite-proxy";
import { createPool } from "mysql2";
import { Pool } from "pg";
import type { ColumnType, Engine, EngineName } from "./engines.ts";

/** A Drizzle database of any dialect. TypeScript sees that of PostgreSQL, whose select queries have the same members. */
type AnyDrizzle = ReturnType<typeof drizzlePostgres>;
export type AnyTable = pg.PgTable & Readonly<Record<string, pg.PgColumn>>;

export interface DrizzleDatabase {
  readonly db: AnyDrizzle;
  /** The statements that Drizzle sent, in order. */
  readonly statements: { readonly sql: string; readonly parameters: readonly unknown[] }[];
  close(): Promise<void>;
}

/** Opens a Drizzle database on an engine. SQLite needs an engine with a file. */
export function openDrizzle({ name, address }: Pick<Engine, "name" | "address">): DrizzleDatabase {
  const statements: DrizzleDatabase["statements"] = [];
  const logger = {
    logQuery: (text: string, parameters: unknown[]): void => void statements.push({ sql: text, parameters }),
  };
  if (name === "PostgreSQL") {
    const pool = new Pool({
      host: "127.0.0.1",
      user: "postgres",
      database: "test",
      max: 2,
      options: `-c search_path=${address}`,
    });
    return { db: drizzlePostgres(pool, { logger }), statements, close: () => pool.end() };
  }
  if (name === "MariaDB") {
    const client = createPool({ host: "127.0.0.1", user: "root", database: address, supportBigNumbers: true });
    return {
      db: drizzleMysql({ client, logger }) as unknown as AnyDrizzle,
      statements,
      close: () => client.promise().end(),
    };
  }
  const file = new DatabaseSync(address);
  file.exec("pragma busy_timeout = 5000");
  const db = drizzleSqlite(async (text, parameters) => ({ rows: valuesOf(file, text, parameters) }), { logger });
  return { db: db as unknown as AnyDrizzle, statements, close: async () => file.close() };
}

/** Returns the rows of a statement as lists of values. */
export function valuesOf(file: DatabaseSync, text: string, parameters: readonly unknown[]): unknown[][] {
  const statement = file.prepare(text);
  statement.setReadBigInts(true);
  return statement
    .all(...(parameters as never[]))
    .map((row) =>
      Object.values(row).map((value) =>
        typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
      ),
    );
}

/** Returns a Drizzle table with these columns, which `createTable` has created. Its properties have other names if given. */
export function tableOf(
  name: EngineName,
  table: string,
  columns: Readonly<Record<string, ColumnType>>,
  properties: Readonly<Record<string, string>> = {},
): AnyTable {
  const built = Object.fromEntries(
    Object.entries(columns).map(([column, type]) => {
      const builder = COLUMNS[type.replace("?", "")]?.[name](column) as { notNull(): unknown } | undefined;
      return [properties[column] ?? column, type.endsWith("?") ? builder : builder?.notNull()];
    }),
  );
  const make = { PostgreSQL: pg.pgTable, MariaDB: mysql.mysqlTable, SQLite: sqlite.sqliteTable }[name];
  return (make as unknown as typeof pg.pgTable)(table, built as never) as unknown as AnyTable;
}

const COLUMNS: Readonly<Record<string, Readonly<Record<EngineName, (column: string) => unknown>>>> = {
  key: {
    PostgreSQL: (column) => pg.integer(column).primaryKey(),
    MariaDB: (column) => mysql.int(column).primaryKey(),
    SQLite: (column) => sqlite.integer(column).primaryKey(),
  },
  int: { PostgreSQL: (c) => pg.integer(c), MariaDB: (c) => mysql.int(c), SQLite: (c) => sqlite.integer(c) },
  bigint: {
    PostgreSQL: (column) => pg.bigint(column, { mode: "bigint" }),
    MariaDB: (column) => mysql.bigint(column, { mode: "bigint" }),
    SQLite: (column) => sqlite.integer(column),
  },
  text: {
    PostgreSQL: (column) => pg.text(column),
    MariaDB: (column) => mysql.varchar(column, { length: 100 }),
    SQLite: (column) => sqlite.text(column),
  },
  time: {
    PostgreSQL: (column) => pg.timestamp(column, { withTimezone: true, precision: 6 }),
    MariaDB: (column) => mysql.datetime(column, { fsp: 6 }),
    SQLite: (column) => sqlite.text(column),
  },
  real: {
    PostgreSQL: (column) => pg.doublePrecision(column),
    MariaDB: (column) => mysql.double(column),
    SQLite: (column) => sqlite.real(column),
  },
  decimal: {
    PostgreSQL: (column) => pg.numeric(column, { precision: 30, scale: 10 }),
    MariaDB: (column) => mysql.decimal(column, { precision: 30, scale: 10 }),
    SQLite: (column) => sqlite.numeric(column),
  },
};
