import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { outside } from "../../core/outside.ts";
import { type PubSub, PubSubGap } from "../../stores/pub-sub.ts";
import { type Revocation, revoked } from "./credential.ts";
import type { Identity } from "./identity.ts";

/** Why a connection is ended: its credential is no longer valid, or the process shuts down. */
export type EndReason = "expired" | "revoked" | "leaving";

/** A connection that outlives a single response: a socket or a stream of events. */
export interface OpenConnection {
  /** The current identity of the client that opened it. */
  readonly identity: Identity;
  /** Called several times a second, with the time of the monotonic clock. */
  beat(now: number): void;
  /** Checks everything that runs on it, after its credential was found to be still valid. */
  recheck?(): Promise<void>;
  /** Ends it and sends the reason to the client. */
  end(reason: EndReason): void;
  /** Ends it without a reason, for a client that does not respond. */
  cut(): void;
  readonly ended: Promise<void>;
}

export interface OpenConnectionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus: PubSub;
  /** How often a credential is checked again; 0 disables the check. */
  readonly recheckMs: number;
}

const BEAT_MS = 250;
/** The number of credentials that are checked in parallel. */
const MOST_CHECKS = 32;
/** How soon to subscribe again after the bus failed. */
const RETRY_MS = 1_000;
/** How long a revocation is remembered, for connections that were being opened when it came. */
const LATELY_MS = 60_000;

/**
 * The open connections of this process, each with its credential. They share one timer and one bus subscription. A connection
 * ends when its credential does: when it expires, when a revocation event arrives, or when a check of the store finds it
 * invalid, which happens every minute and after every gap in the bus.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  /** With the time of the next check of the store. */
  readonly #open = new Map<OpenConnection, number>();
  /** Users with a recent revocation, with its time, the oldest first. */
  readonly #lately = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #listening: AbortController | null = null;
  #isLeaving = false;

  constructor(options: OpenConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether the process is shutting down, so that nothing new starts on open connections. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  add(connection: OpenConnection): void {
    const { clock, recheckMs } = this.#options;
    this.#open.set(connection, clock.monotonic() + recheckMs);
    void connection.ended.then(() => this.#remove(connection));
    outside(() => this.#watch());
    this.identified(connection);
    if (this.#isLeaving) connection.end("leaving");
  }

  /** Its identity is new. A revocation that came after authentication and before this call did not find an open connection. */
  identified(connection: OpenConnection): void {
    if (this.#lately.has(connection.identity.user.identity)) void this.#recheckOne(connection);
  }

  /** Runs for all connections, not for the request that happens to be first. */
  #watch(): void {
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    if (this.#listening !== null) return;
    this.#listening = new AbortController();
    void this.#listen(this.#listening.signal);
  }

  /** Ends all connections at random moments within the window, so that clients do not reconnect all at once. */
  async leave(windowMs: number): Promise<void> {
    this.#isLeaving = true;
    await Promise.all(
      [...this.#open.keys()].map(async (connection) => {
        if (windowMs > 0) await Promise.race([sleep(Math.random() * windowMs), connection.ended]);
        connection.end("leaving");
        await connection.ended;
      }),
    );
  }

  /** Cuts the connections of clients that do not respond. */
  cut(): void {
    for (const connection of this.#open.keys()) connection.cut();
  }

  /** Stops the timer and the subscription; open connections are no longer checked. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listening?.abort();
    this.#listening = null;
  }

  #remove(connection: OpenConnection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const { clock, recheckMs } = this.#options;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const due: OpenConnection[] = [];
    for (const [connection, checkAt] of this.#open) {
      connection.beat(monotonic);
      const { credential } = connection.identity;
      if (credential?.expiresAt !== undefined && credential.expiresAt <= now) connection.end("expired");
      else if (recheckMs > 0 && monotonic >= checkAt && isIdentified(connection)) {
        this.#open.set(connection, monotonic + recheckMs);
        due.push(connection);
      }
    }
    if (due.length > 0) void this.#recheck(due);
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { bus, log } = this.#options;
    while (!signal.aborted) {
      const since = performance.now();
      const events = bus.subscribe(revoked, { signal })[Symbol.asyncIterator]();
      // Once the subscription is active, open connections are checked for revocations that were missed until then.
      void bus.settled().then(() => this.#recheck([...this.#open.keys()]));
      try {
        for (let event = await events.next(); event.done !== true; event = await events.next())
          this.#revoke(event.value);
      } catch (error) {
        const isGap = error instanceof PubSubGap;
        if (isGap && performance.now() - since > RETRY_MS / 10) continue;
        if (!isGap)
          log.error(
            { err: error },
            "cannot subscribe to revocation events; open connections are checked by polling the store",
          );
      }
      if (!signal.aborted) await sleep(RETRY_MS, undefined, { ref: false });
    }
  }

  #revoke({ user, credential }: Revocation): void {
    this.#remember(user);
    for (const connection of this.#open.keys()) {
      const { identity } = connection;
      if (!identity.user.isAuthenticated || identity.user.identity !== user) continue;
      if (credential === undefined || credential === identity.credential?.id) connection.end("revoked");
    }
  }

  #remember(user: string): void {
    const now = this.#options.clock.monotonic();
    this.#lately.delete(user);
    this.#lately.set(user, now);
    for (const [oldest, at] of this.#lately) {
      if (now - at <= LATELY_MS) break;
      this.#lately.delete(oldest);
    }
  }

  async #recheck(connections: readonly OpenConnection[]): Promise<void> {
    const waiting = [...connections];
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await this.#recheckOne(next);
    };
    await Promise.all(Array.from({ length: Math.min(MOST_CHECKS, waiting.length) }, work));
  }

  async #recheckOne(connection: OpenConnection): Promise<void> {
    const { identity } = connection;
    if (!isIdentified(connection) || !this.#open.has(connection)) return;
    try {
      const counts = (await identity.recheck?.()) ?? true;
      if (counts) await connection.recheck?.();
      else if (connection.identity === identity) connection.end("revoked");
    } catch (err) {
      // A store outage revokes nothing, and the check is retried.
      this.#options.log.warn({ err }, "failed to recheck a credential");
    }
  }
}

/** Without a credential there is nothing to check. */
function isIdentified({ identity }: OpenConnection): boolean {
  return identity.recheck !== undefined || identity.user.isAuthenticated;
}
