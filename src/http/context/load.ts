import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import { optional, positiveInteger, type Resolved, resolveOptions } from "../../core/resolve-options.ts";
import { Turns } from "../../core/turns.ts";
import { TooManyRequests } from "./http-exception.ts";

/** When the process answers 503 instead of taking on more. */
export interface LoadOptions {
  /** Requests being answered at once. The limit in force adapts below this one. @default 10,000 */
  readonly maxInFlight?: number;
  /** How long requests may wait for their handler, or for a database connection, before new ones are refused, in milliseconds. @default 100 */
  readonly maxWaitMs?: number;
  /** How late timers may fire on average, in milliseconds: a blocked event loop shows by it. @default 1,000 */
  readonly maxEventLoopDelayMs?: number;
  /** Request bodies that may be arriving from one address at once. @default 1,000 */
  readonly maxBodiesPerAddress?: number;
  /** The `Retry-After` of a refusal, in seconds. @default 1 */
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
/** How many samples the mean delay of the event loop is taken over. */
const DELAY_SAMPLES = 5;
/** Resolution of the histogram: a timer that is on time counts as this much. */
const RESOLUTION_MS = 10;
/** The event loop is saturated when it was idle for less than this share of every sample for so long: a burst is no overload. */
const IDLE_SHARE = 0.05;
const SATURATED_MS = 1_000;
/** How long the requests that are read in one round of the event loop may begin their work in it. */
const SLICE_MS = 2;
/** So many requests are always taken on: a few that are slow are no overload. */
const LEAST_TAKEN = 32;
/** Requests without a credential get this share, so that signed-in callers are refused last. */
const ANONYMOUS_SHARE = 0.8;

/**
 * How busy the process is. It is asked before a body is read: refusing must be cheaper than answering.
 *
 * Requests that are read in one round of the event loop take turns, so that its rounds stay short: Node accepts one connection
 * in each. While the event loop is saturated, a request that has waited too long for its turn is refused. The limit of requests
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
  /** When the sample began since which the event loop was hardly ever idle. */
  #busySince = Number.POSITIVE_INFINITY;
  #sampleBegan = performance.now();
  readonly #turns = new Turns(SLICE_MS);
  /** Requests that wait for their turn. */
  #waiting = 0;
  /** Of this sample. */
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

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Call before each request: `undefined` when it may go on at once, otherwise a promise of how long it waited for its turn. */
  turn(): Promise<number> | undefined {
    if (this.#waiting >= this.#limits.maxInFlight) return undefined;
    const turn = this.#turns.take();
    if (turn === undefined) return undefined;
    const began = performance.now();
    this.#waiting++;
    return turn.then(() => {
      this.#waiting--;
      const waitedMs = performance.now() - began;
      this.#longestTurnMs = Math.max(this.#longestTurnMs, waitedMs);
      return waitedMs;
    });
  }

  /** Whether another request is taken on, after it has waited so long for its turn. */
  admits(hasCredential: boolean, waitedMs: number): boolean {
    const share = hasCredential || this.#limit === this.#limits.maxInFlight ? 1 : ANONYMOUS_SHARE;
    const { maxWaitMs, maxInFlight, maxEventLoopDelayMs } = this.#limits;
    if (waitedMs > SATURATED_MS || (waitedMs > maxWaitMs * share && this.#isSaturated(performance.now()))) return false;
    if (this.#inFlight >= this.#limit * share || this.#waiting >= maxInFlight) return false;
    return this.#eventLoopDelayMs <= maxEventLoopDelayMs;
  }

  /** A request waited so long for something that all requests share, such as a database connection. */
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

  /** A body begins to arrive. Throws `TooManyRequests` when its address sends too many at once. */
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
