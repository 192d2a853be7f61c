import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { outside } from "../../core/outside.ts";
import { type PubSub, PubSubGap } from "../../stores/pub-sub.ts";
import { type Revocation, revoked } from "./credential.ts";
import type { Identity } from "./identity.ts";

/** Why a connection is ended from here: its credential is over, or the process is. */
export type EndReason = "expired" | "revoked" | "leaving";

/** Something that stays open for longer than an answer takes: a socket, a stream of events. */
export interface OpenConnection {
  /** Who opened it, as it is known now. */
  readonly identity: Identity;
  /** Called several times a second, with the time of the clock that never goes back. */
  beat(now: number): void;
  /** Looks at what runs on it, when its credential was found to count still. */
  recheck?(): Promise<void>;
  /** Ends it with a word to the client. */
  end(reason: EndReason): void;
  /** Ends it without one, for a client that does not listen. */
  cut(): void;
  readonly ended: Promise<void>;
}

export interface OpenConnectionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus: PubSub;
  /** How often a credential is looked up again; 0 is never. */
  readonly recheckMs: number;
}

const BEAT_MS = 250;
/** How many credentials are looked up at once. */
const MOST_CHECKS = 32;
/** How soon a bus that failed is listened to again. */
const RETRY_MS = 1_000;
/** How long a revocation is remembered, for what was being opened when it came. */
const LATELY_MS = 60_000;

/**
 * What is open in this process, each with the credential it was opened by. One timer serves them all, and one listener of the
 * bus. A connection ends when its credential does: at its expiry, when the bus says that it was revoked, and when a look at the
 * store says so: every minute, and after every gap in the bus.
 */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;
  /** With the time of the next look at the store. */
  readonly #open = new Map<OpenConnection, number>();
  /** The users of whom a revocation came lately, with its time; the oldest first. */
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

  /** Whether the process is ending: nothing new starts on what is still open. */
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

  /** Its identity is new: a revocation that came after it was found out, and before this call, was not for anything open. */
  identified(connection: OpenConnection): void {
    if (this.#lately.has(connection.identity.user.identity)) void this.#recheckOne(connection);
  }

  /** For all of them: whoever comes first is not the one that it is done for. */
  #watch(): void {
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    if (this.#listening !== null) return;
    this.#listening = new AbortController();
    void this.#listen(this.#listening.signal);
  }

  /** Ends all of them, each at its own moment within the window: clients that come back do not come at once. */
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

  /** Ends those whose clients do not answer. */
  cut(): void {
    for (const connection of this.#open.keys()) connection.cut();
  }

  /** Stops to listen; what is open by then is on its own. */
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
      else if (recheckMs > 0 && monotonic >= checkAt && isSomebody(connection)) {
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
      // Once the next ones are heard: what was missed until then, by those that are open already.
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
    if (!isSomebody(connection) || !this.#open.has(connection)) return;
    try {
      const counts = (await identity.recheck?.()) ?? true;
      if (counts) await connection.recheck?.();
      else if (connection.identity === identity) connection.end("revoked");
    } catch (err) {
      // A store that is away revokes nothing; it is asked again.
      this.#options.log.warn({ err }, "failed to recheck a credential");
    }
  }
}

/** Of nobody, who has shown nothing, there is nothing to look up. */
function isSomebody({ identity }: OpenConnection): boolean {
  return identity.recheck !== undefined || identity.user.isAuthenticated;
}
