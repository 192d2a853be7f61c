import { outside } from "../../core/outside.ts";
import { unavailable } from "../../core/unavailable.ts";
import { currentContext } from "../../http/context/current-context.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { probeServer } from "./probe-server.ts";
import { boundEnd, CLOSE_MS, cancelStatement, type Pg, type WireClient } from "./wire-client.ts";
import { deadlineHere, withDeadline } from "./with-deadline.ts";

export interface WatchOptions {
  readonly connectionString: string;
  /** How long a statement may run, in milliseconds; 0 disables the deadline. */
  readonly deadlineMs: number;
}

/** A connection of the pool. */
interface Watched {
  readonly client: WireClient;
  readonly openedAt: number;
  /** When the server behind it was started: another server behind the same address has another time. */
  server: string | null;
}

/** A statement, or one read of a cursor, that the server has not answered yet. */
interface Running {
  readonly on: Watched;
  readonly since: number;
  readonly deadlineMs: number;
  readonly ctx: BaseContext | null;
  readonly kind: "read" | "write" | "end";
  abandonedAt?: number;
  probedAt?: number;
}

/** Statements are looked at this often while there are any. */
const TICK_MS = 500;
/** How long a statement may go on after its request was given up: most end by themselves. */
const ABANDONED_MS = 1_000;
/** The server is asked whether it still works on a statement after this time, and this often from then on. */
const PROBE_AFTER_MS = 2_000;
const PROBE_EVERY_MS = 5_000;
/** How long a response that the server has sent may take to arrive. */
const ARRIVAL_MS = 1_000;

/**
 * The connections of a pool, and the statements that run on them. A host that vanishes, a proxy that hangs and a firewall that
 * drops a connection send no FIN: such a connection would hold its statement, and its place in the pool, for many minutes.
 *
 * A connection is cut, and so never returned to the pool, when its statement is past the deadline, when the request that the
 * statement belongs to was given up, and when the server, asked over a new connection, does not work on the statement.
 */
export class WatchedClients {
  readonly #pg: Pg;
  readonly #options: WatchOptions;
  readonly #clients = new Map<object, Watched>();
  readonly #running = new Set<Running>();
  /** Connections that were opened before this moment are not handed out any more. */
  #staleBefore = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;
  /** Behind a pooler the process ids of connections are made up, so the server cannot be asked about them. */
  #isPooled = false;

  constructor(pg: Pg, options: WatchOptions) {
    this.#pg = pg;
    this.#options = options;
  }

  /** Watches a connection from now on, and runs its first statement. */
  async open(client: WireClient, timeoutMs: number): Promise<void> {
    const watched: Watched = { client, openedAt: performance.now(), server: null };
    this.#clients.set(client, watched);
    client.once("end", () => this.#clients.delete(client));
    this.#watchStatements(watched);
    boundEnd(client);
    const { rows } = await withDeadline(timeoutMs, () =>
      client.query<{ server: string }>(
        `select set_config('lock_timeout', '${timeoutMs}', false), extract(epoch from pg_postmaster_start_time())::text as server`,
      ),
    );
    watched.server = rows[0]?.server ?? null;
  }

  /** Whether the connection must not be used again. */
  isStale(client: object): boolean {
    const watched = this.#clients.get(client);
    return watched !== undefined && watched.openedAt < this.#staleBefore;
  }

  /** Has every connection that is open now replaced when it is next needed. At most once a second. */
  renew(): void {
    const now = performance.now();
    if (now - this.#staleBefore > 1_000) this.#staleBefore = now;
  }

  /** Cuts what is still open a moment after the pool began to end. */
  async cutWhile(ending: Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      for (const watched of this.#clients.values()) this.#cut(watched, "The database was closed", "write");
    }, CLOSE_MS);
    await ending.finally(() => clearTimeout(timer));
  }

  #watchStatements(on: Watched): void {
    const { client } = on;
    // Looked up each time: tools that trace statements replace it in the prototype.
    const prototype = Object.getPrototypeOf(client) as { query(...args: unknown[]): unknown };
    const watched = (...args: unknown[]): unknown => {
      const result = prototype.query.apply(client, args);
      if (isCursor(result)) return this.#watchCursor(on, result);
      return result instanceof Promise ? this.#during(on, kindOf(args[0]), result) : result;
    };
    client.query = watched as typeof client.query;
  }

  #watchCursor(on: Watched, cursor: Cursor): Cursor {
    const read = cursor.read.bind(cursor);
    const close = cursor.close.bind(cursor);
    cursor.read = (count) => this.#during(on, "read", read(count));
    // By itself it waits for an answer also on a connection that is gone.
    cursor.close = () => this.#during(on, "read", unlessEnded(on.client, close));
    return cursor;
  }

  #during<T>(on: Watched, kind: Running["kind"], result: Promise<T>): Promise<T> {
    const deadlineMs = deadlineHere() ?? this.#options.deadlineMs;
    const running: Running = { on, since: performance.now(), deadlineMs, ctx: currentContext(), kind };
    this.#running.add(running);
    // After a look at the network: when this process was busy for so long, the answer may be there unread.
    this.#timer ??= outside(() => setInterval(() => setImmediate(() => this.#tick()), TICK_MS).unref());
    return result.finally(() => this.#running.delete(running));
  }

  #tick(): void {
    const now = performance.now();
    const doubtful: Running[] = [];
    for (const running of this.#running) {
      const ageMs = now - running.since;
      if (running.deadlineMs > 0 && ageMs >= running.deadlineMs)
        this.#cut(running.on, `The database did not answer within ${running.deadlineMs / 1000} s`, running.kind);
      else if (isAbandoned(running, now))
        this.#cut(running.on, "The request of this statement was given up", running.kind);
      else if (ageMs >= PROBE_AFTER_MS && now - (running.probedAt ?? Number.NEGATIVE_INFINITY) >= PROBE_EVERY_MS)
        doubtful.push(running);
    }
    if (doubtful.length > 0) void this.#probe(doubtful);
    if (this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Cuts the connections on which an answer can never arrive: the server has sent it already, or knows nothing of them. */
  async #probe(doubtful: readonly Running[]): Promise<void> {
    if (this.#isProbing || this.#isPooled) return;
    this.#isProbing = true;
    try {
      for (const running of doubtful) running.probedAt = performance.now();
      const ids = doubtful.map(({ on }) => on.client.processID ?? 0);
      const report = await probeServer(this.#pg, this.#options.connectionString, ids);
      this.#isPooled = report?.isPooled === true;
      if (report === null || report.isPooled) return;
      const silent = doubtful.filter(
        ({ on }) => on.server === report.server && !report.busy.includes(on.client.processID ?? 0),
      );
      const before = silent.map(({ on }) => on.client.connection.stream.bytesRead);
      setTimeout(() => setImmediate(() => this.#replace(silent, before)), ARRIVAL_MS).unref();
    } finally {
      this.#isProbing = false;
    }
  }

  #replace(silent: readonly Running[], bytesBefore: readonly number[]): void {
    for (const [index, running] of silent.entries()) {
      const { stream } = running.on.client.connection;
      if (!this.#running.has(running) || stream.bytesRead !== bytesBefore[index]) continue;
      // The others of the pool have probably taken the same way.
      this.renew();
      this.#cut(running.on, "The connection to the database went silent", "end");
    }
  }

  #cut({ client }: Watched, sentence: string, kind: Running["kind"]): void {
    const isRunning = [...this.#running].some(({ on }) => on.client === client);
    // A commit is left to the server: cancelling it would not undo it.
    if (isRunning && kind !== "end") outside(() => cancelStatement(this.#pg, client));
    client.connection.stream.destroy(unavailable(sentence, new Error("Connection terminated")));
  }
}

/**
 * Whether its request ended long enough ago without it. A handler whose time is over has failed, and so has what it writes. One
 * whose client has left goes on: what it writes is kept, and only what it reads is of no use to anybody.
 */
function isAbandoned(running: Running, now: number): boolean {
  const { ctx, kind } = running;
  if (ctx === null || kind === "end" || !ctx.signal.aborted) return false;
  const isTimeout = (ctx.signal.reason as { readonly name?: unknown } | null)?.name === "TimeoutError";
  if (kind === "write" && !isTimeout) return false;
  running.abandonedAt ??= now;
  return now - running.abandonedAt >= ABANDONED_MS;
}

/** What a statement does, by its first word. What may be either is a write. */
function kindOf(statement: unknown): Running["kind"] {
  const text = typeof statement === "string" ? statement : (statement as { readonly text?: unknown } | null)?.text;
  if (typeof text !== "string") return "write";
  if (/^\s*(?:commit|rollback|release)\b/i.test(text)) return "end";
  return /^\s*(?:select|values|table|explain)\b/i.test(text) ? "read" : "write";
}

/** What `pg-cursor` gives. */
interface Cursor {
  submit(connection: unknown): void;
  read(count: number): Promise<unknown[]>;
  close(): Promise<void>;
}

function isCursor(value: unknown): value is Cursor {
  return typeof (value as Partial<Cursor> | null)?.submit === "function" && "read" in (value as object);
}

async function unlessEnded(client: WireClient, work: () => Promise<void>): Promise<void> {
  if (client.connection.stream.destroyed) return;
  const ended: PromiseWithResolvers<void> = Promise.withResolvers();
  client.once("end", ended.resolve);
  try {
    await Promise.race([work(), ended.promise]);
  } finally {
    client.off("end", ended.resolve);
  }
}
