import { monitorEventLoopDelay } from "node:perf_hooks";
import { optional, positiveInteger, type Resolved, resolveOptions } from "../core/options.ts";

/** When the process says 503 instead of taking on more. */
export interface LoadOptions {
  /** Requests being answered at once. @default 10,000 */
  readonly maxInFlight?: number;
  /** How late timers may fire on average, in milliseconds: what a blocked event loop shows by. @default 1,000 */
  readonly maxEventLoopDelayMs?: number;
  /** When a client is told to come back, in seconds. @default 1 */
  readonly retryAfterSeconds?: number;
}

const loadRules = {
  maxInFlight: optional(positiveInteger, 10_000),
  maxEventLoopDelayMs: optional(positiveInteger, 1_000),
  retryAfterSeconds: optional(positiveInteger, 1),
};

const SAMPLE_MS = 500;
/** Resolution of the histogram: a timer that is on time counts as this much. */
const RESOLUTION_MS = 10;

/** How busy the process is. Asked before a body is read: refusing must be cheaper than answering. */
export class Load {
  readonly retryAfterSeconds: number;
  readonly #limits: Resolved<typeof loadRules>;
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #timer: NodeJS.Timeout | undefined;
  #inFlight = 0;
  #eventLoopDelayMs = 0;

  constructor(options: LoadOptions) {
    this.#limits = resolveOptions("PorticoApp.load", options, loadRules);
    this.retryAfterSeconds = this.#limits.retryAfterSeconds;
  }

  /** Starts to watch the event loop. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#histogram.disable();
  }

  get isOverloaded(): boolean {
    return this.#inFlight >= this.#limits.maxInFlight || this.#eventLoopDelayMs > this.#limits.maxEventLoopDelayMs;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    this.#inFlight--;
  }

  #sample(): void {
    const mean = this.#histogram.mean / 1e6;
    this.#eventLoopDelayMs = Number.isNaN(mean) ? 0 : mean - RESOLUTION_MS;
    this.#histogram.reset();
  }
}
