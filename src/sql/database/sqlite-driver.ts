import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from "kysely";
import { unavailable } from "../../core/unavailable.ts";
import { Permits, type Release } from "./permits.ts";

export interface SqliteDriverOptions {
  /** A path, or `:memory:`. */
  readonly file: string;
  readonly timeoutMs: number;
}

/**
 * One connection that writes, one statement or one transaction at a time, and one that reads beside it. A database in memory
 * has one connection for both.
 *
 * Nothing waits inside of SQLite, which would stop the event loop: another process's lock is tried again until the time is over.
 */
export class SqliteDriver implements Driver {
  readonly #options: SqliteDriverOptions;
  #files: SqliteFiles | undefined;

  constructor(options: SqliteDriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const { DatabaseSync } = await import("node:sqlite");
    const { file, timeoutMs } = this.#options;
    const open = (): DatabaseSync => prepared(new DatabaseSync(file));
    const writer = open();
    this.#files = new SqliteFiles(writer, file === ":memory:" ? writer : open(), timeoutMs);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#files === undefined) throw new Error("the database is closed");
    return new SqliteConnection(this.#files);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as SqliteConnection).begin();
  }
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as SqliteConnection).finish("commit");
  }
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as SqliteConnection).finish("rollback");
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoted(name)}`));
  }
  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${quoted(name)}`));
  }
  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${quoted(name)}`));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#files?.close();
    this.#files = undefined;
  }
}

/** The open file, and whose turn it is to write. */
class SqliteFiles {
  readonly writer: DatabaseSync;
  readonly reader: DatabaseSync;
  readonly writing: Permits;
  readonly #timeoutMs: number;

  constructor(writer: DatabaseSync, reader: DatabaseSync, timeoutMs: number) {
    this.writer = writer;
    this.reader = reader;
    this.#timeoutMs = timeoutMs;
    this.writing = new Permits(
      1,
      timeoutMs,
      "The database is busy: SQLite has one writer, and the transaction that is open did not end in time",
    );
  }

  /** Runs it until no other process is in its way. */
  async patiently<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#timeoutMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        return work();
      } catch (cause) {
        if (!isBusy(cause)) throw readable(cause);
        if (performance.now() > deadline)
          throw unavailable("The database is busy: another process is writing to it", cause);
      }
      await sleep(pauseMs);
    }
  }

  /**
   * Has the reader look at the schema, which has changed: Node 22 counts the columns of a statement before SQLite finds out,
   * and mixes them up.
   */
  rereadSchema(): void {
    if (this.reader !== this.writer) this.reader.prepare("select 1 from sqlite_schema limit 1").get();
  }

  close(): void {
    this.writer.close();
    if (this.reader !== this.writer) this.reader.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #files: SqliteFiles;
  /** Held while a transaction is open here. */
  #turn: Release | null = null;
  #hasChangedSchema = false;
  /** Whether SQLite itself has rolled the transaction back, as it does when the disk is full. */
  #isLost = false;

  constructor(files: SqliteFiles) {
    this.#files = files;
  }

  async begin(): Promise<void> {
    const turn = await this.#files.writing.acquire();
    try {
      // At once, not with the first write: a transaction that has read would then find another's changes in its way.
      await this.#files.patiently(() => this.#files.writer.exec("begin immediate"));
    } catch (error) {
      turn();
      throw error;
    }
    this.#turn = turn;
  }

  async finish(how: "commit" | "rollback"): Promise<void> {
    try {
      await this.#files.patiently(() => this.#files.writer.exec(how));
    } catch (error) {
      // A full disk has rolled it back already. A commit that fails is followed by a rollback: it keeps its turn until then.
      if (how === "commit" || !/no transaction is active/.test(String(error))) throw error;
    }
    if (this.#hasChangedSchema) await this.#files.patiently(() => this.#files.rereadSchema());
    this.#hasChangedSchema = false;
    this.#isLost = false;
    this.#turn?.();
    this.#turn = null;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader, writing } = this.#files;
    if (this.#turn !== null) {
      // Without its transaction, a statement would be kept at once, whatever becomes of the others.
      if (this.#isLost) throw new Error("SQLite rolled back the transaction after the error of an earlier statement");
      this.#hasChangedSchema ||= changesSchema(query);
      try {
        return run<R>(writer, query);
      } catch (error) {
        this.#isLost = !isInTransaction(writer);
        throw readable(error);
      }
    }
    if (reader !== writer && isRead(query)) return this.#files.patiently(() => run<R>(reader, query));
    return writing.hold(async () => {
      const result = await this.#files.patiently(() => run<R>(writer, query));
      if (changesSchema(query)) await this.#files.patiently(() => this.#files.rereadSchema());
      return result;
    });
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  // While it is opened, another process may be doing the same: that may wait.
  database.exec("pragma busy_timeout = 5000");
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = normal");
  database.exec("pragma foreign_keys = on");
  database.exec("pragma busy_timeout = 0");
  return database;
}

/** Tried out, since Node 22.13 cannot say: no transaction begins inside of another. */
function isInTransaction(database: DatabaseSync): boolean {
  try {
    database.exec("begin");
  } catch {
    return true;
  }
  database.exec("rollback");
  return false;
}

function run<R>(database: DatabaseSync, { sql, parameters }: CompiledQuery): QueryResult<R> {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  const values = parameters.map(inputValue);
  if (HAS_ROWS.test(sql)) return { rows: statement.all(...values).map(outputRow) as R[] };
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

const HAS_ROWS = /^\s*(?:select|with|values|explain|pragma)\b|\breturning\b/i;

/** Whether it surely changes nothing. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" || (query.kind === "RawNode" && /^\s*(?:select|explain)\b/i.test(sql));
}

/** SQLite has neither booleans nor times. */
function inputValue(value: unknown): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value as SQLInputValue;
}

/** Integers as numbers, and as bigints only beyond what those hold. */
function outputRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) row[name] = Number(value);
  return { ...row };
}

/** SQLITE_BUSY and SQLITE_LOCKED, with what SQLite adds to them. */
function isBusy(error: unknown): boolean {
  return [5, 6].includes(resultCode(error));
}

/** The error of a statement: a file that cannot be read or written is an outage. */
function readable(error: unknown): unknown {
  const sentence = OUTAGES[resultCode(error)];
  return sentence === undefined ? error : unavailable(sentence, error);
}

const OUTAGES: Readonly<Record<number, string>> = {
  8: "The database is read-only",
  10: "The database failed to read or write its file",
  13: "The database has no room left on its disk",
  14: "The file of the database cannot be opened",
};

/** What went wrong, without the details that SQLite adds in the higher bits. */
function resultCode(error: unknown): number {
  const code: unknown = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : 0;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function changesSchema({ sql }: CompiledQuery): boolean {
  return /^\s*(?:create|alter|drop)\b/i.test(sql);
}
