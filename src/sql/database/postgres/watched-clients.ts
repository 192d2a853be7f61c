import { outsideRequest } from "../../../core/outside-request.ts";
import { unavailable } from "../../../core/unavailable.ts";
import { inBackground } from "../../../core/work/in-background.ts";
import { currentContext } from "../../../kernel/context/current-context.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { queryOf } from "../../statements/in-pipeline.ts";
import { deadlineHere, withDeadline } from "../with-deadline.ts";
import { probeServer } from "./probe-server.ts";
import { statementKind } from "./statement-kind.ts";
import { boundEnd, CLOSE_MS, cancelStatement, type Pg, type WireClient } from "./wire-client.ts";

export interface WatchOptions {
  readonly connectionString: string;
  /** How long a statement may run, in milliseconds; 0 disables the deadline. */
  readonly deadlineMs: number;
}

/** A connection of the pool. */
interface Watched {
  readonly client: WireClient;
  readonly openedAt: number;
  /** When the server was started, which tells servers behind the same address apart. */
  server: string | null;
}

/** A statement, or one read of a cursor, that is waiting for the server's response. */
interface Running {
  readonly on: Watched;
  readonly since: number;
  readonly deadlineMs: number;
  readonly ctx: BaseContext | null;
  readonly kind: "read" | "write" | "end";
  abandonedAt?: number;
  probedAt?: number;
}

/** How often running statements are checked. */
const TICK_MS = 500;
/** How long a statement may continue after its request was aborted. Most end by themselves. */
const ABANDONED_MS = 1_000;
/** After this time, and then this often, the server is checked for whether it still works on a statement. */
const PROBE_AFTER_MS = 2_000;
const PROBE_EVERY_MS = 5_000;
/** How long a response that the server has sent may take to arrive. */
const ARRIVAL_MS = 1_000;

/**
 * The connections of a pool and the statements that run on them. A host that vanishes, a proxy that hangs and a
 * firewall that drops a connection send no FIN. Such a connection would hold its statement and its place in the pool
 * for many minutes.
 *
 * A connection is cut, and so never returned to the pool, if its statement exceeds the deadline, if the statement's
 * request was aborted, or if the server, checked over a new connection, does not work on the statement.
 */
export class WatchedClients {
  readonly #pg: Pg;
  readonly #options: WatchOptions;
  readonly #clients = new Map<object, Watched>();
  readonly #running = new Set<Running>();
  /** Connections that were opened before this time are not used again. */
  #staleBefore = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;
  /** Behind a pooler, the process ids of connections are invented, so the server cannot be queried for them. */
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

  /** Marks every open connection for replacement before its next use. Has an effect at most once a second. */
  renew(): void {
    const now = performance.now();
    if (now - this.#staleBefore > 1_000) this.#staleBefore = now;
  }

  /** Cuts the connections that are still open shortly after the pool started to end. */
  async cutWhile(ending: Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      for (const watched of this.#clients.values()) this.#cut(watched, "The database was closed", "write");
    }, CLOSE_MS);
    await ending.finally(() => clearTimeout(timer));
  }

  #watchStatements(on: Watched): void {
    const { client } = on;
    // Looked up for each call, because tracing tools replace it in the prototype.
    const prototype = Object.getPrototypeOf(client) as { query(...args: unknown[]): unknown };
    const watched = (...args: unknown[]): unknown => {
      const result = queryOf(client, () => prototype.query.apply(client, args));
      if (isCursor(result)) return this.#watchCursor(on, result);
      return result instanceof Promise ? this.#during(on, kindOf(args[0]), result) : result;
    };
    client.query = watched as typeof client.query;
  }

  #watchCursor(on: Watched, cursor: Cursor): Cursor {
    const read = cursor.read.bind(cursor);
    const close = cursor.close.bind(cursor);
    cursor.read = (count) => this.#during(on, "read", read(count));
    // By default, it would wait for a response even on a lost connection.
    cursor.close = () => this.#during(on, "read", unlessEnded(on.client, close));
    return cursor;
  }

  #during<T>(on: Watched, kind: Running["kind"], result: Promise<T>): Promise<T> {
    const deadlineMs = deadlineHere() ?? this.#options.deadlineMs;
    const running: Running = { on, since: performance.now(), deadlineMs, ctx: currentContext(), kind };
    this.#running.add(running);
    // Checked after the network was read, because the response may be unread if this process was busy.
    this.#timer ??= outsideRequest(() => setInterval(() => setImmediate(() => this.#tick()), TICK_MS).unref());
    return result.finally(() => this.#running.delete(running));
  }

  #tick(): void {
    const now = performance.now();
    const doubtful: Running[] = [];
    for (const running of this.#running) {
      const ageMs = now - running.since;
      if (running.deadlineMs > 0 && ageMs >= running.deadlineMs)
        this.#cut(running.on, `The database did not respond within ${running.deadlineMs / 1000} s`, running.kind);
      else if (isAbandoned(running, now))
        this.#cut(running.on, "The request of this statement was aborted", running.kind);
      else if (ageMs >= PROBE_AFTER_MS && now - (running.probedAt ?? Number.NEGATIVE_INFINITY) >= PROBE_EVERY_MS)
        doubtful.push(running);
    }
    if (doubtful.length > 0) inBackground(this.#probe(doubtful));
    if (this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Cuts connections whose response can never arrive: the server has already sent it, or does not know the connection.
   */
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
      // The other connections of the pool probably took the same network path.
      this.renew();
      this.#cut(running.on, "The connection to the database stopped responding", "end");
    }
  }

  #cut({ client }: Watched, sentence: string, kind: Running["kind"]): void {
    const isRunning = [...this.#running].some(({ on }) => on.client === client);
    // A commit is left to the server, because cancelling it would not undo it.
    if (isRunning && kind !== "end") outsideRequest(() => cancelStatement(this.#pg, client));
    client.connection.stream.destroy(unavailable(sentence, new Error("Connection terminated")));
  }
}

/**
 * Whether the request of a statement ended long enough ago. After a timeout, the handler has failed, and so have its
 * writes. If the client disconnected, the handler continues: its writes are kept, and only its reads are useless.
 */
function isAbandoned(running: Running, now: number): boolean {
  const { ctx, kind } = running;
  if (ctx === null || kind === "end" || !ctx.signal.aborted) return false;
  const isTimeout = (ctx.signal.reason as { readonly name?: unknown } | null)?.name === "TimeoutError";
  if (kind === "write" && !isTimeout) return false;
  running.abandonedAt ??= now;
  return now - running.abandonedAt >= ABANDONED_MS;
}

function kindOf(statement: unknown): Running["kind"] {
  const text = typeof statement === "string" ? statement : (statement as { readonly text?: unknown } | null)?.text;
  return typeof text === "string" ? statementKind(text) : "write";
}

/** The cursor of `pg-cursor`. */
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
