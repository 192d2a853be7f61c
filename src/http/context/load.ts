import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import { optional, positiveInteger, type Resolved, resolveOptions } from "../../core/resolve-options.ts";
import { Turns } from "../../core/turns.ts";
import { TooManyRequests } from "../exceptions/http-exception.ts";

/** When the process rejects new requests with 503. */
export interface LoadOptions {
  /** The maximum number of requests in flight. The effective limit adapts below it. @default 10,000 */
  readonly maxInFlight?: number;
  /**
   * How long requests may wait for their handler, or for a database connection, before new ones are rejected, in milliseconds.
   * @default 100
   */
  readonly maxWaitMs?: number;
  /** How late timers may fire on average, in milliseconds, which shows that the event loop is blocked. @default 1,000 */
  readonly maxEventLoopDelayMs?: number;
  /** The maximum number of request bodies arriving from one address at once. @default 1,000 */
  readonly maxBodiesPerAddress?: number;
  /** The `Retry-After` of a rejected request, in seconds. @default 1 */
  readonly retryAfterSeconds?: number;
}

const loadRules = {
  maxInFlight: optional(positiveInteger, 10_000),
  maxWaitMs: optional(positiveInteger, 100),
  maxEventLoopDelayMs: optional(positiveInteger, 1_000),
  maxBodiesPerAddress: optional(positiveInteger, 1_000),
  retryAfterSeconds: optional(positiveInteger, 1),
};

const SAMPLE_MS = 100;
/** The number of samples in the mean delay of the event loop. */
const DELAY_SAMPLES = 5;
/** The resolution of the histogram. A timer that is on time is recorded with this value. */
const RESOLUTION_MS = 10;
/** The event loop is saturated if it was idle for less than this share of every sample for this long. A burst is not an overload. */
const IDLE_SHARE = 0.05;
const SATURATED_MS = 1_000;
/** How long requests that were read in one round of the event loop may start their work in that round. */
const SLICE_MS = 2;
/** How long rounds may only accept connections between two slices, while more of them are waiting. */
const ACCEPT_MS = 0.5;
/** This many requests are always accepted, because a few slow ones are not an overload. */
const LEAST_TAKEN = 32;
/** The share of the limit for requests without a credential, so that signed-in callers are rejected last. */
const ANONYMOUS_SHARE = 0.8;

/**
 * The load of the process. It is checked before a body is read, because rejecting must be cheaper than serving.
 *
 * Requests that are read in one round of the event loop take turns, so that rounds stay short: Node accepts one connection in
 * each. Between two slices of work, some rounds only accept, because a client whose connection is not accepted cannot be
 * rejected either. While the event loop is saturated, a request that has waited too long for its turn is rejected. The limit of requests
 * in flight adapts as well. It shrinks by a quarter while requests wait for their turn, or when even the shortest wait for a
 * database connection in a sample was too long. Otherwise it grows by a twentieth.
 */
export class Load {
  readonly retryAfterSeconds: number;
  readonly #limits: Resolved<typeof loadRules>;
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #arriving = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();
  #inFlight = 0;
  #limit: number;
  #samples = 0;
  #eventLoopDelayMs = 0;
  /** The start of the first sample since which the event loop was hardly ever idle. */
  #busySince = Number.POSITIVE_INFINITY;
  #sampleBegan = performance.now();
  readonly #turns: Turns = new Turns(SLICE_MS, () => this.#isAccepting());
  /** Whether this round accepted a connection. */
  #hasAccepted = false;
  /** The start of the rounds that accept connections and do nothing else. */
  #acceptingSince: number | null = null;
  /** The number of requests that wait for their turn. */
  #waiting = 0;
  /** The maximum in this sample. */
  #mostInFlight = 0;
  #longestTurnMs = 0;
  #shortestWaitMs = Number.POSITIVE_INFINITY;

  constructor(options: LoadOptions) {
    this.#limits = resolveOptions("PorticoApp.load", options, loadRules);
    this.retryAfterSeconds = this.#limits.retryAfterSeconds;
    this.#limit = this.#limits.maxInFlight;
  }

  /** Starts to watch the event loop. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#histogram.enable();
    this.#utilization = performance.eventLoopUtilization();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#histogram.disable();
  }

  get isOverloaded(): boolean {
    return this.#inFlight >= this.#limit || this.#eventLoopDelayMs > this.#limits.maxEventLoopDelayMs;
  }

  #isSaturated(now: number): boolean {
    return now - this.#busySince > SATURATED_MS;
  }

  /**
   * Starts a request in its turn, with how long it waited: at once if it may, otherwise later. The promise then rejects if
   * `start` throws. `start` runs directly after the turn, because its time counts towards the slice.
   */
  inTurn(start: (waitedMs: number) => void): void | Promise<void> {
    const turn = this.#waiting >= this.#limits.maxInFlight ? undefined : this.#turns.take();
    if (turn === undefined) return start(0);
    const began = performance.now();
    this.#waiting++;
    return turn.then(() => {
      this.#waiting--;
      const waitedMs = performance.now() - began;
      this.#longestTurnMs = Math.max(this.#longestTurnMs, waitedMs);
      start(waitedMs);
    });
  }

  /** A connection was accepted. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  #isAccepting(): boolean {
    const now = performance.now();
    this.#acceptingSince ??= now;
    const isAccepting = this.#hasAccepted && now - this.#acceptingSince < ACCEPT_MS;
    this.#hasAccepted = false;
    if (!isAccepting) this.#acceptingSince = null;
    return isAccepting;
  }

  /** Whether another request is accepted after it has waited this long for its turn. */
  admits(hasCredential: boolean, waitedMs: number): boolean {
    const share = hasCredential || this.#limit === this.#limits.maxInFlight ? 1 : ANONYMOUS_SHARE;
    const { maxWaitMs, maxInFlight, maxEventLoopDelayMs } = this.#limits;
    const isSaturated = waitedMs > SATURATED_MS || this.#isSaturated(performance.now());
    if (waitedMs > maxWaitMs * share && isSaturated) return false;
    if (this.#inFlight >= this.#limit * share || this.#waiting >= maxInFlight) return false;
    return this.#eventLoopDelayMs <= maxEventLoopDelayMs;
  }

  /** Records how long a request waited for a shared resource, such as a database connection. */
  waited(ms: number): void {
    this.#shortestWaitMs = Math.min(this.#shortestWaitMs, ms);
  }

  enter(): void {
    this.#inFlight++;
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
  }

  leave(): void {
    this.#inFlight--;
  }

  /** A body begins to arrive. Throws `TooManyRequests` if its address sends too many at once. */
  bodyBegins(address: string): void {
    const count = this.#arriving.get(address) ?? 0;
    if (count >= this.#limits.maxBodiesPerAddress) throw new TooManyRequests(this.retryAfterSeconds);
    this.#arriving.set(address, count + 1);
  }

  bodyEnds(address: string): void {
    const count = this.#arriving.get(address) ?? 0;
    if (count > 1) this.#arriving.set(address, count - 1);
    else this.#arriving.delete(address);
  }

  #sample(): void {
    this.#samples = (this.#samples + 1) % DELAY_SAMPLES;
    if (this.#samples === 0) this.#readDelay();
    const utilization = performance.eventLoopUtilization();
    const isBusy = performance.eventLoopUtilization(utilization, this.#utilization).utilization > 1 - IDLE_SHARE;
    this.#busySince = isBusy ? Math.min(this.#busySince, this.#sampleBegan) : Number.POSITIVE_INFINITY;
    this.#sampleBegan = performance.now();
    this.#utilization = utilization;
    this.#adapt();
  }

  #readDelay(): void {
    const mean = this.#histogram.mean / 1e6;
    this.#eventLoopDelayMs = Number.isNaN(mean) ? 0 : mean - RESOLUTION_MS;
    this.#histogram.reset();
  }

  #adapt(): void {
    const { maxInFlight, maxWaitMs } = this.#limits;
    const isLoopLate = this.#isSaturated(this.#sampleBegan) && this.#longestTurnMs > maxWaitMs;
    const isPoolLate = this.#shortestWaitMs > maxWaitMs && this.#shortestWaitMs !== Number.POSITIVE_INFINITY;
    const next =
      isLoopLate || isPoolLate
        ? Math.max(LEAST_TAKEN, Math.floor(Math.min(this.#limit, this.#mostInFlight) * 0.75))
        : Math.ceil(this.#limit * 1.05);
    this.#limit = Math.min(maxInFlight, next);
    this.#mostInFlight = this.#inFlight;
    this.#longestTurnMs = 0;
    this.#shortestWaitMs = Number.POSITIVE_INFINITY;
  }
}
