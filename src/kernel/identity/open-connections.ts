import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { isInstance, loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { type PubSub, PubSubGap, type Topic } from "../../stores/pub-sub.ts";
import { type Revocation, revoked } from "./credential.ts";
import type { OpenConnection } from "./open-connection.ts";
import { isIdentified, RecheckQueue } from "./recheck-queue.ts";
import { userChanged } from "./user-changed.ts";

export interface OpenConnectionsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus: PubSub;
  /** How often a credential is checked again; 0 disables the check. */
  readonly recheckMs: number;
}

const BEAT_MS = 250;
/** How soon to subscribe again after the bus failed. */
const RETRY_MS = 1_000;
/** How long a revocation or a change is remembered, for connections that were being opened when it came. */
const LATELY_MS = 60_000;

/**
 * The open connections of this process, each with its credential. They share one timer and one bus subscription per topic. A
 * connection ends when its credential does: when it expires, when a revocation event arrives, or when a check of the store
 * finds it invalid, which happens every minute, when its user changes, and after every gap in the bus.
 */
export class OpenConnections implements Part {
  readonly #options: OpenConnectionsOptions;
  /** With the time of the next check of the store. */
  readonly #open = new Map<OpenConnection, number>();
  readonly #rechecks: RecheckQueue;
  /** Users with a recent revocation or change, with its time, the oldest first; `null` stands for all users. */
  readonly #lately = new Map<string | null, number>();
  /** Users whose connections are still to be rechecked, with the time of their change. */
  readonly #changed = new Map<string | null, number>();
  /** Whether changed users were rechecked since the last beat. The next ones wait for a beat, so that bursts cost little. */
  #hasRechecked = false;
  #timer: NodeJS.Timeout | undefined;
  #listening: AbortController | null = null;
  #isLeaving = false;

  constructor(options: OpenConnectionsOptions) {
    this.#options = options;
    this.#rechecks = new RecheckQueue(options.log);
  }

  /** Whether the process is shutting down, so that nothing new starts on open connections. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  add(connection: OpenConnection): void {
    const { clock, recheckMs } = this.#options;
    this.#open.set(connection, clock.monotonic() + recheckMs);
    inBackground(connection.ended.then(() => this.#remove(connection)));
    outsideRequest(() => this.#watch());
    this.identified(connection);
    if (this.#isLeaving) connection.end("leaving");
  }

  /** Its identity is new. An event that came after authentication and before this call did not find an open connection. */
  identified(connection: OpenConnection): void {
    const since = latest(this.#lately, connection);
    if (since !== undefined) this.#rechecks.add([connection], since);
  }

  *figures(): Iterable<Figure> {
    yield { series: "portico_live_connections", labels: [], value: this.#open.size };
    yield { series: "portico_live_connections_unchecked", labels: [], value: this.#rechecks.waiting };
  }

  /** Runs for all connections, not for the request that happens to be first. */
  #watch(): void {
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    if (this.#listening !== null) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    inBackground(this.#listen(revoked, signal, (revocation) => this.#revoke(revocation)));
    inBackground(this.#listen(userChanged, signal, ({ user }) => this.#change(user)));
  }

  /** Ends all connections at random moments within the window, so that clients do not reconnect all at once. */
  async leave(windowMs: number): Promise<void> {
    this.#isLeaving = true;
    await Promise.all(
      [...this.#open.keys()].map(async (connection) => {
        if (windowMs > 0) await atMost(Math.random() * windowMs, connection.ended);
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
    this.#rechecks.remove(connection);
    if (this.#open.size > 0) return;
    this.#changed.clear();
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
    this.#rechecks.add(due);
    this.#hasRechecked = false;
    this.#recheckChanged();
  }

  async #listen<T>(topic: Topic<T>, signal: AbortSignal, onEvent: (event: T) => void): Promise<void> {
    const { bus, log } = this.#options;
    while (!signal.aborted) {
      const since = performance.now();
      const events = bus.subscribe(topic, { signal })[Symbol.asyncIterator]();
      // Once the subscription is active, open connections are checked for events that were missed until then.
      inBackground(bus.settled().then(() => this.#rechecks.add(this.#open.keys(), performance.now())));
      try {
        for (let event = await events.next(); event.done !== true; event = await events.next()) onEvent(event.value);
      } catch (error) {
        const isGap = isInstance(error, PubSubGap);
        if (isGap && performance.now() - since > RETRY_MS / 10) continue;
        if (!isGap)
          log.error(
            { err: loggable(error), topic: topic.name },
            "cannot subscribe to revocations or changes of users; open connections are checked by polling the store",
          );
      }
      if (!signal.aborted) await sleep(RETRY_MS, undefined, { ref: false });
    }
  }

  #revoke({ user, credential }: Revocation): void {
    this.#remember(user);
    for (const connection of this.#open.keys()) {
      const { user: holder, credential: used } = connection.identity;
      if (!holder.isAuthenticated || (holder.identity !== user && used?.impersonator !== user)) continue;
      if (credential === undefined || credential === used?.id) connection.end("revoked");
    }
  }

  #change(user: string | null): void {
    const since = this.#remember(user);
    if (this.#open.size > 0) this.#changed.set(user, since);
    if (!this.#hasRechecked) this.#recheckChanged();
  }

  /** Rechecks the connections of the changed users; all connections for `null`. */
  #recheckChanged(): void {
    if (this.#changed.size === 0) return;
    this.#hasRechecked = true;
    for (const connection of this.#open.keys()) {
      const since = latest(this.#changed, connection);
      if (since !== undefined) this.#rechecks.add([connection], since);
    }
    this.#changed.clear();
  }

  #remember(user: string | null): number {
    const now = performance.now();
    this.#lately.delete(user);
    this.#lately.set(user, now);
    for (const [oldest, at] of this.#lately) {
      if (now - at <= LATELY_MS) break;
      this.#lately.delete(oldest);
    }
    return now;
  }
}

/** Waits for the end of a connection, but no longer than this. Afterwards, no timer keeps the process alive. */
async function atMost(ms: number, ended: Promise<unknown>): Promise<void> {
  const wait = new AbortController();
  await Promise.race([sleep(ms, undefined, { signal: wait.signal }).catch(() => {}), ended]);
  wait.abort();
}

/** The time of the last event for the user of a connection or the administrator who acts as the user, or for all users. */
function latest(events: ReadonlyMap<string | null, number>, { identity }: OpenConnection): number | undefined {
  const { user, credential } = identity;
  const whose = [user.identity, null, ...(credential?.impersonator === undefined ? [] : [credential.impersonator])];
  const times = whose.map((name) => events.get(name)).filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}
