import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { Client } from "pg";
import { type Rule, rule } from "../../src/index.ts";
import { type Database, type DatabaseOptions, type Guard, openDatabase } from "../../src/sql/index.ts";
import { meetsRule } from "./expected-guard.ts";
import {
  type GuardCase,
  type GuardData,
  type GuardRow,
  type GuardTable,
  guardCondition,
  guardTables,
} from "./guard-case.ts";

export type GuardedEngineName = "PostgreSQL" | "SQLite";

/** A guarded database with generated rules. */
export interface GuardPlace {
  readonly guarded: Database;
  /** The tables with the rows that JavaScript lets through. */
  readonly allowed: Database;
  /** The rules of the guard. */
  readonly current: { of: GuardCase | null };
  /** The option `guard`. */
  readonly rules: Guard<any>;
  /** Opens the database again, as another role or with other options. */
  open(options: DatabaseOptions, role?: string): Database;
  ruleOf(table: string, verb: "read" | "write"): Rule<GuardRow>;
  close(): Promise<void>;
}

/** Creates the tables of the generator, twice. */
export async function openGuardPlace(name: GuardedEngineName): Promise<GuardPlace> {
  const schemas = [0, 1].map(() => `portico_guard_${randomUUID().slice(0, 8)}`);
  const [one, other] = schemas.map((schema) =>
    name === "SQLite"
      ? "sqlite::memory:"
      : `${SERVER}?options=${encodeURIComponent(`-c search_path=${schema} -c synchronous_commit=off -c jit=off`)}`,
  ) as [string, string];
  if (name === "PostgreSQL") await onServer(schemas.map((schema) => `create schema ${schema}`));
  const current: GuardPlace["current"] = { of: null };
  const ruleOf = (table: string, verb: "read" | "write"): Rule<GuardRow> => {
    const given = () => (current.of as GuardCase)[verb][table] as never;
    return rule<GuardRow>({
      name: `${table}.${verb}`,
      allows: ({ identity }, row) => meetsRule(given(), row, (current.of as GuardCase).data, Number(identity)),
      where: ({ identity }) => guardCondition(given(), Number(identity)) as never,
    });
  };
  const rules = Object.fromEntries(
    guardTables.map((table) => [
      table,
      table === "c" ? ("open" as const) : { read: ruleOf(table, "read"), write: ruleOf(table, "write") },
    ]),
  );
  const opened: Database[] = [];
  const open: GuardPlace["open"] = (options, role) => {
    const url = role === undefined ? one : one.replace("//postgres@", `//${role}@`);
    const database = openDatabase<any>(url, { poolSize: 2, ...options });
    opened.push(database);
    return database;
  };
  const guarded = open({ guard: rules });
  const allowed = openDatabase<any>(other, { poolSize: 2 });
  const kind = name === "PostgreSQL" ? "unlogged table" : "table";
  for (const database of [guarded.asSystem("the generator of tables"), allowed])
    for (const table of guardTables)
      await sql.raw(`create ${kind} ${table} (id integer primary key, org integer, ref integer)`).execute(database);
  return {
    guarded,
    allowed,
    current,
    rules,
    open,
    ruleOf,
    async close() {
      await Promise.all([...opened, allowed].map((database) => database.destroy()));
      if (name === "PostgreSQL") await onServer(schemas.map((schema) => `drop schema ${schema} cascade`));
    },
  };
}

/** Replaces the rows of some tables. */
export async function loadRows(db: Database, data: GuardData, tables: readonly GuardTable[]): Promise<void> {
  const statements = tables.flatMap((table) => {
    const rows = data[table].map(({ id, org, ref }) => `(${id}, ${org}, ${ref})`);
    return [`delete from ${table}`, ...(rows.length === 0 ? [] : [`insert into ${table} values ${rows.join(", ")}`])];
  });
  // PostgreSQL takes several statements at once.
  for (const text of db.engine === "postgres" ? [statements.join("; ")] : statements) await sql.raw(text).execute(db);
}

const SERVER = "postgres://postgres@127.0.0.1:5432/test";

export async function onServer(statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
