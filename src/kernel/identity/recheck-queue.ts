import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import { requireLoadedSince } from "./loaded-since.ts";
import type { OpenConnection } from "./open-connection.ts";

/** The number of connections that are rechecked in parallel. */
const MAX_CHECKS = 32;
/** A check that takes longer goes on, and no longer holds up others. */
const TIMEOUT_MS = 15_000;

/**
 * Rechecks connections, a limited number at a time. However often a connection is added, it waits once: a recheck that is
 * running is followed by at most one more.
 */
export class RecheckQueue {
  readonly #log: Logger;
  /** With the time after which its user must have been loaded. */
  readonly #waiting = new Map<OpenConnection, number>();
  readonly #checking = new Set<OpenConnection>();
  #workers = 0;
  #isStarting = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param since the time by `performance.now()` after which users must have been loaded; by default caches decide */
  add(connections: Iterable<OpenConnection>, since: number = Number.NEGATIVE_INFINITY): void {
    for (const connection of connections)
      if (isIdentified(connection))
        this.#waiting.set(connection, Math.max(since, this.#waiting.get(connection) ?? since));
    if (this.#isStarting || this.#waiting.size === 0) return;
    this.#isStarting = true;
    // By the next turn of the event loop, the other subscribers in this process have read the event, such as a cache of the
    // application, which then has dropped its copy.
    outsideRequest(() => setImmediate(() => this.#start()));
  }

  /** The number of connections that wait for a check. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The connection has ended. */
  remove(connection: OpenConnection): void {
    this.#waiting.delete(connection);
  }

  #start(): void {
    this.#isStarting = false;
    while (this.#workers < MAX_CHECKS && this.#next() !== undefined) inBackground(this.#work());
  }

  /** A connection that is being rechecked has to wait, because the results of two checks could come in either order. */
  #next(): OpenConnection | undefined {
    for (const connection of this.#waiting.keys()) if (!this.#checking.has(connection)) return connection;
    return undefined;
  }

  async #work(): Promise<void> {
    this.#workers++;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#check(next);
    this.#workers--;
  }

  async #check(connection: OpenConnection): Promise<void> {
    const since = this.#waiting.get(connection) ?? Number.NEGATIVE_INFINITY;
    this.#waiting.delete(connection);
    this.#checking.add(connection);
    try {
      await withTimeout(
        TIMEOUT_MS,
        requireLoadedSince(since, () => recheck(connection)),
      );
    } catch (err) {
      // A store outage revokes nothing, and the check is retried.
      this.#log.warn({ err: loggable(err) }, "failed to recheck a credential");
    }
    this.#checking.delete(connection);
  }
}

async function recheck(connection: OpenConnection): Promise<void> {
  const { identity } = connection;
  const isValid = (await identity.recheck?.()) ?? true;
  if (isValid) await connection.recheck?.();
  else if (connection.identity === identity) connection.end("revoked");
}

/** Without a credential there is nothing to check. */
export function isIdentified({ identity }: OpenConnection): boolean {
  return identity.recheck !== undefined || identity.user.isAuthenticated;
}
