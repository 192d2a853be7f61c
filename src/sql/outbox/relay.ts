import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { failpoint } from "../../core/work/failpoint.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { Database } from "../database/database.ts";
import { cleanEvents } from "./clean-events.ts";
import { type OpenWrite, oldestWrite, SettledReader } from "./settled-reader.ts";

/** How long it waits before it looks again whether a transaction has ended. */
const PAUSE_MS = 4;
const MAX_PAUSE_MS = 50;
/** After this time, an open transaction is named in the log, at most once a minute. */
const SLOW_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const LOOK_AFTER_EVERY_MS = 10_000;

/** The work of the one process that determines how far events are settled, and removes old ones. */
export class Relay {
  readonly #database: Database;
  #reader: SettledReader;
  readonly #announce: (settled: number) => void;
  readonly #log: () => Logger | null;
  #isRunning = false;
  #isWanted = false;
  #isLeading = false;
  #lookedAfterAt = Number.NEGATIVE_INFINITY;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #oldestWrite: OpenWrite | null = null;

  /** @param announce called with each new settled position */
  constructor(database: Database, announce: (settled: number) => void, log: () => Logger | null) {
    this.#database = database;
    this.#reader = new SettledReader(database);
    this.#announce = announce;
    this.#log = log;
  }

  get settled(): number {
    return this.#reader.settled;
  }
  get isLeading(): boolean {
    return this.#isLeading;
  }
  get lagSeconds(): number {
    return this.#isLeading ? this.#reader.waitingMs / 1000 : 0;
  }
  /** The age of the oldest open write transaction when it was last looked for. */
  get oldestWriteSeconds(): number {
    return this.#isLeading ? (this.#oldestWrite?.seconds ?? 0) : 0;
  }

  /** The numbers of events belong to another history from now on. */
  restart(): void {
    this.#reader = new SettledReader(this.#database);
  }

  /** @param isLeading whether this process holds the lease of the relay */
  lead(isLeading: boolean): void {
    this.#isLeading = isLeading;
    if (!isLeading) return;
    this.wake();
    const now = performance.now();
    if (now - this.#lookedAfterAt < LOOK_AFTER_EVERY_MS && this.#reader.waitingMs < SLOW_MS) return;
    if (now - this.#lookedAfterAt < 1_000) return;
    this.#lookedAfterAt = now;
    inBackground(this.#lookAfter());
  }

  /** An event may have been committed. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isRunning || !this.#isLeading) return;
    this.#isRunning = true;
    inBackground(this.#run());
  }

  async #run(): Promise<void> {
    let pauseMs = PAUSE_MS;
    try {
      while (this.#isLeading) {
        const before = this.#reader.settled;
        this.#isWanted = false;
        const isWaiting = await this.#reader.look();
        if (this.#reader.settled > before) {
          failpoint("relay-settled");
          this.#announce(this.#reader.settled);
          failpoint("relay-announced");
          pauseMs = PAUSE_MS;
        } else if (!isWaiting && !this.#isWanted) return;
        else pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS);
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    } catch {
      // The renewal of the lease reports a database that does not respond, and continues afterwards.
    } finally {
      this.#isRunning = false;
    }
  }

  async #lookAfter(): Promise<void> {
    try {
      this.#oldestWrite = await oldestWrite(this.#database);
      await cleanEvents(this.#database);
    } catch (err) {
      this.#log()?.warn({ err: loggable(err) }, "the outbox could not be cleaned, it tries again");
    }
    if (this.#reader.waitingMs < SLOW_MS || performance.now() - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = performance.now();
    const seconds = Math.round(this.#reader.waitingMs / 1000);
    const whose = this.#oldestWrite === null ? "" : `: the oldest is ${describeWrite(this.#oldestWrite)}`;
    this.#log()?.warn(
      { seconds },
      `events have been waiting for ${seconds} s for an open write transaction to end${whose}. Commit it, or set idle_in_transaction_session_timeout`,
    );
  }
}

/** An open write transaction, as messages name it. */
export function describeWrite({ where, seconds }: OpenWrite): string {
  return `${where}, open for ${Math.round(seconds)} s`;
}
