import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { describeError } from "../../core/describe-error.ts";
import { unavailable } from "../../core/unavailable.ts";
import { OpenedFile } from "./opened-file.ts";
import { Permits, type Release } from "./permits.ts";
import type { PoolCounts, PoolPart } from "./pool-part.ts";

export interface SqliteDriverOptions {
  /** A path or `:memory:`. */
  readonly file: string;
  readonly timeoutMs: number;
  readonly part: PoolPart;
}

/** The result code of SQLite for a file that it can't open, most often because its folder doesn't exist. */
const CANNOT_OPEN = 14;

/**
 * One connection writes, one statement or transaction at a time, and another one reads in parallel. A database in
 * memory has one connection for both.
 *
 * Nothing waits inside SQLite, which would block the event loop. If another process holds the lock, the statement is
 * retried until the timeout.
 */
export class SqliteDriver implements Driver {
  readonly #options: SqliteDriverOptions;
  #files: SqliteFiles | undefined;

  constructor(options: SqliteDriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const { DatabaseSync } = await import("node:sqlite");
    const { file, part } = this.#options;
    const open = (): DatabaseSync => {
      try {
        return prepared(new DatabaseSync(file));
      } catch (error) {
        if ((error as { readonly errcode?: unknown }).errcode !== CANNOT_OPEN) throw error;
        throw new ConfigurationError("openDatabase.url", `names ${file}, which can't be created or opened`);
      }
    };
    const writer = open();
    const files = new SqliteFiles(writer, file === ":memory:" ? writer : open(), this.#options);
    part.counts = () => files.counts;
    this.#files = files;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#files === undefined) throw new Error("the database is closed");
    this.#options.part.join();
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

/** The open file and the queue of its writers. */
class SqliteFiles {
  readonly writer: DatabaseSync;
  readonly reader: DatabaseSync;
  readonly #timeoutMs: number;
  readonly #part: PoolPart;
  readonly #writing: Permits;
  /** `null` in memory. */
  readonly #opened: OpenedFile | null;

  constructor(writer: DatabaseSync, reader: DatabaseSync, { file, timeoutMs, part }: SqliteDriverOptions) {
    this.writer = writer;
    this.reader = reader;
    this.#opened = writer === reader ? null : new OpenedFile(file);
    this.#timeoutMs = timeoutMs;
    this.#part = part;
    this.#writing = new Permits(
      1,
      timeoutMs,
      "The database is busy: SQLite allows one writer, and the open transaction did not end in time",
    );
  }

  /** The connection that writes. Reads never wait. */
  get counts(): PoolCounts {
    const { count, free, waiting } = this.#writing;
    return { used: count - free, idle: free, max: count, waiting };
  }

  /** Waits until nothing else writes. */
  async toWrite(): Promise<Release> {
    const began = performance.now();
    let release: Release | null = null;
    this.#part.writes();
    // SQLite itself does not notice: it would acknowledge writes to a file that can no longer be opened.
    if (this.#opened?.isThere === false) throw unavailable("The database file was deleted or replaced: restart");
    try {
      release = await this.#writing.acquire();
      return release;
    } finally {
      this.#part.waited(performance.now() - began, release !== null);
    }
  }

  /** Retries until no other process holds the lock. */
  async patiently<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#timeoutMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        return work();
      } catch (cause) {
        if (!isBusy(cause)) throw this.readable(cause);
        if (performance.now() > deadline)
          throw unavailable("The database is busy: another process is writing to it", cause);
      }
      await sleep(pauseMs);
    }
  }

  /**
   * Makes the reader notice a changed schema. Node 22 counts the columns of a statement before SQLite notices, and
   * mixes them up.
   */
  rereadSchema(): void {
    if (this.reader !== this.writer) this.reader.prepare("select 1 from sqlite_schema limit 1").get();
  }

  /** Converts the error of a statement. A file that cannot be read or written is an outage. */
  readable(error: unknown): unknown {
    const sentence = OUTAGES[resultCode(error)];
    if (resultCode(error) === FULL) this.#part.refused();
    return sentence === undefined ? error : unavailable(sentence, error);
  }

  close(): void {
    this.writer.close();
    if (this.reader !== this.writer) this.reader.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #files: SqliteFiles;
  /** Held while a transaction is open on this connection. */
  #turn: Release | null = null;
  #hasChangedSchema = false;
  /** Whether SQLite itself rolled back the transaction, as it does when the disk is full. */
  #isLost = false;

  constructor(files: SqliteFiles) {
    this.#files = files;
  }

  async begin(): Promise<void> {
    const turn = await this.#files.toWrite();
    try {
      // The lock is taken at the start, because a transaction that reads first could conflict with changes made in
      // between.
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
      // A full disk has already rolled it back. A failed commit is followed by a rollback, so the lock is kept until
      // then.
      if (how === "commit" || !/no transaction is active/.test(describeError(error))) throw error;
    }
    if (this.#hasChangedSchema) await this.#files.patiently(() => this.#files.rereadSchema());
    this.#hasChangedSchema = false;
    this.#isLost = false;
    this.#turn?.();
    this.#turn = null;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader } = this.#files;
    if (this.#turn !== null) {
      // Without its transaction, a statement would be saved immediately, even if the others fail.
      if (this.#isLost) throw new Error("SQLite rolled back the transaction after an earlier statement failed");
      this.#hasChangedSchema ||= changesSchema(query);
      try {
        return run<R>(writer, query);
      } catch (error) {
        this.#isLost = !isInTransaction(writer);
        throw this.#files.readable(error);
      }
    }
    if (reader !== writer && isRead(query)) return this.#files.patiently(() => run<R>(reader, query));
    const turn = await this.#files.toWrite();
    try {
      const result = await this.#files.patiently(() => run<R>(writer, query));
      if (changesSchema(query)) await this.#files.patiently(() => this.#files.rereadSchema());
      return result;
    } finally {
      turn();
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  // Another process may be opening the file at the same time, and this may wait for it.
  database.exec("pragma busy_timeout = 5000");
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = normal");
  database.exec("pragma foreign_keys = on");
  database.exec("pragma busy_timeout = 0");
  return database;
}

/** Tests for a transaction by starting one, because Node 22.13 has no way to ask. */
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

/** Whether the statement certainly changes nothing. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" || (query.kind === "RawNode" && /^\s*(?:select|explain)\b/i.test(sql));
}

/** Converts booleans and times, which SQLite does not have. */
function inputValue(value: unknown): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value as SQLInputValue;
}

/** Returns integers as numbers, or as bigints if they exceed the safe range. */
function outputRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) row[name] = Number(value);
  return { ...row };
}

/** SQLITE_BUSY and SQLITE_LOCKED, including their extended codes. */
function isBusy(error: unknown): boolean {
  return [5, 6].includes(resultCode(error));
}

const FULL = 13;

const OUTAGES: Readonly<Record<number, string>> = {
  8: "The database is read-only",
  10: "The database failed to read or write its file",
  [FULL]: "The disk of the database is full",
  14: "The database file cannot be opened",
};

/** Returns the primary error code without the extended bits. */
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
