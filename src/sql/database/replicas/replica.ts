import type { CompiledQuery, Kysely, QueryResult } from "kysely";
import { loggable } from "../../../core/describe-error.ts";
import type { Logger } from "../../../core/logger.ts";
import { inBackground } from "../../../core/work/in-background.ts";
import { withTimeout } from "../../../core/work/with-timeout.ts";
import { isLost } from "../postgres/postgres-error.ts";
import { withDeadline } from "../with-deadline.ts";
import { replayedPosition, type WalPosition } from "./wal-position.ts";

/** How long a check may take. */
const TIMEOUT_MS = 2_000;

/** One replica, and the last known position of its log. */
export class Replica {
  /** The host and port. */
  readonly name: string;
  /** Where it is logged that the replica is left out, and used again. */
  log: Logger | null = null;
  readonly #open: () => Kysely<any>;
  /** A connection for checks, which do not wait for busy ones. */
  readonly #watch: Kysely<any>;
  #pool: Kysely<any>;
  #replayed: WalPosition | null = null;
  #problem: unknown = "it has not been checked yet";
  #checkedAt = Number.NEGATIVE_INFINITY;
  #isChecking = false;
  #isDown = false;

  /**
   * @param watch a pool of one connection, for checks
   * @param open opens a pool for statements, the first of which connects
   */
  constructor(name: string, watch: Kysely<any>, open: () => Kysely<any>) {
    this.name = name;
    this.#watch = watch;
    this.#open = open;
    this.#pool = open();
  }

  /** The position that it is known to have replayed; `null` while it is left out. */
  get replayed(): WalPosition | null {
    return this.#replayed;
  }

  /** Why it is left out. */
  get problem(): unknown {
    return this.#problem;
  }

  /** When the position was read, on the monotonic clock. */
  get checkedAt(): number {
    return this.#checkedAt;
  }

  /** Reads its position. Returns the reason if it cannot be used. */
  async check(): Promise<{ readonly position: WalPosition } | { readonly problem: unknown }> {
    if (this.#isChecking) return { problem: "it does not respond" };
    this.#isChecking = true;
    const startedAt = performance.now();
    const asked = withDeadline(TIMEOUT_MS, () => replayedPosition((query) => this.#watch.executeQuery(query)));
    inBackground(asked.catch(() => {}).finally(() => (this.#isChecking = false)));
    try {
      const position = await withTimeout(TIMEOUT_MS, asked);
      if (position === null) return { problem: "it is not a replica" };
      this.#checkedAt = startedAt;
      return { position };
    } catch (problem) {
      return { problem };
    }
  }

  /** Uses it for callers whose writes are below this position. */
  use(position: WalPosition): void {
    if (this.#replayed === null) this.log?.info({ replica: this.name }, "postgres: a replica is in use");
    this.#replayed = position;
    this.#isDown = false;
  }

  /** Leaves it out because it is behind. Its running statements continue. */
  leaveOut(problem: unknown): void {
    this.#problem = problem;
    if (this.#replayed !== null) this.#report(problem);
    this.#replayed = null;
    this.#isDown = false;
  }

  /** Leaves it out because it is not a replica that responds. Its running statements are cut, and run on the primary. */
  giveUp(problem: unknown): void {
    this.#problem = problem;
    this.#replayed = null;
    if (this.#isDown) return;
    this.#isDown = true;
    this.#report(problem);
    inBackground(closed(this.#pool));
    this.#pool = this.#open();
  }

  async close(): Promise<void> {
    await Promise.all([closed(this.#watch), closed(this.#pool)]);
  }

  /** Runs a statement here, or on the primary if this server cannot answer it. */
  async run<R>(query: CompiledQuery<R>, primary: Kysely<any>): Promise<QueryResult<R>> {
    const pool = this.#pool;
    try {
      return await pool.executeQuery<R>(query);
    } catch (error) {
      if (!this.#cannotAnswer(pool, error)) throw error;
      return primary.executeQuery<R>(query);
    }
  }

  /** Streams a statement from here, or from the primary if this server failed before its first row. */
  async *stream<R>(
    query: CompiledQuery<R>,
    chunkSize: number,
    primary: Kysely<any>,
  ): AsyncIterableIterator<QueryResult<R>> {
    const pool = this.#pool;
    let hasBegun = false;
    try {
      for await (const part of pool.getExecutor().stream<R>(query, chunkSize)) {
        hasBegun = true;
        yield part;
      }
    } catch (error) {
      if (hasBegun || !this.#cannotAnswer(pool, error)) throw error;
      yield* primary.getExecutor().stream<R>(query, chunkSize);
    }
  }

  #report(problem: unknown): void {
    this.log?.warn({ replica: this.name, err: loggable(problem) }, "postgres: a replica was left out");
  }

  #cannotAnswer(pool: Kysely<any>, error: unknown): boolean {
    if (pool !== this.#pool) return true;
    const reason = (error as { readonly cause?: unknown } | null)?.cause ?? error;
    if (isLost(reason)) this.giveUp(error);
    return isLost(reason) || OF_REPLICAS.test(String((reason as { readonly code?: unknown } | null)?.code));
  }
}

async function closed(pool: Kysely<any>): Promise<void> {
  await pool.destroy().catch(() => {});
}

/**
 * Errors that the primary may not have: the statement writes (25006), it conflicted with changes that arrived (class 40), the
 * schema is behind (42), or the server is out of resources (53, 58).
 */
const OF_REPLICAS = /^(?:25006|(?:40|42|53|58)\w{3})$/;
