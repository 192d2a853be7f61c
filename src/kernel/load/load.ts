import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { flag, optional, positiveInteger, type Resolved, resolveOptions } from "../../core/resolve-options.ts";
import { EventLoopTurns } from "../../core/work/event-loop-turns.ts";
import { TooManyRequests } from "../exceptions/http-exception.ts";
import { Demand } from "./demand.ts";
import { HostTime } from "./host-time.ts";

/** When the process rejects new requests with 503. */
export interface LoadOptions {
  /** The maximum number of requests in flight. The effective limit adapts below it. @default 10,000 */
  readonly maxInFlight?: number;
  /**
   * How long requests may wait for their handler, or for a database connection, in an overload, before new ones are rejected, in
   * milliseconds. Without an overload it is 2,000 at least. @default 100
   */
  readonly maxWaitMs?: number;
  /** How late timers may fire on average, in milliseconds, which shows that the event loop is blocked. @default 1,000 */
  readonly maxEventLoopDelayMs?: number;
  /** The maximum number of request bodies arriving from one address at once. @default 1,000 */
  readonly maxBodiesPerAddress?: number;
  /** The `Retry-After` of a rejected request, in seconds. @default 1 */
  readonly retryAfterSeconds?: number;
  /** Whether requests are only counted which would be rejected, and served all the same. @default false */
  readonly report?: boolean;
}

/** Why a request is rejected: its wait, the limit of requests in flight, or the delay of the event loop. */
export type LoadReason = "wait" | "in-flight" | "event-loop";

const loadRules = {
  maxInFlight: optional(positiveInteger, 10_000),
  maxWaitMs: optional(positiveInteger, 100),
  maxEventLoopDelayMs: optional(positiveInteger, 1_000),
  maxBodiesPerAddress: optional(positiveInteger, 1_000),
  retryAfterSeconds: optional(positiveInteger, 1),
  report: optional(flag, false),
};

const SAMPLE_MS = 100;
/** The number of samples in the mean delay of the event loop. */
const DELAY_SAMPLES = 5;
/** The resolution of the histogram. A timer that is on time is recorded with this value. */
const RESOLUTION_MS = 10;
/** The event loop is busy if it was idle for less than this share of a sample. */
const IDLE_SHARE = 0.05;
/** A burst that drains within this time is not an overload, and neither are a few hundred clients that wait for their responses. */
const BURST_MS = 2_000;
/** An overload has had a queue for more samples than arrivals are compared in, so that its beginning alone is not one. */
const SUSTAINED_SAMPLES = 5;
/** The number of samples in the pace of turns and in the share of the time that the host left to this process. */
const PACE_SAMPLES = 5;
/** The least of that share: clients wait in their own time, however busy the host is. */
const MIN_OWN = 1 / 3;
/** How long requests that were read in one round of the event loop may start their work in that round. */
const SLICE_MS = 2;
/** This many rounds may only accept connections between two slices, while more of them are waiting. */
const ACCEPT_ROUNDS = 8;
/** This many requests are always accepted, because a few slow ones are not an overload. */
const MIN_TAKEN = 32;
/** The share of the limit for requests without a credential, so that signed-in callers are rejected last. */
const ANONYMOUS_SHARE = 0.8;

/**
 * The load of the process. It is checked before a body is read, because rejecting must be cheaper than serving.
 *
 * Requests that are read in one round of the event loop take turns, so that rounds stay short: Node accepts one connection in
 * each. Between two slices of work, some rounds only accept, because a client whose connection is not accepted cannot be
 * rejected either.
 *
 * A request is rejected if it would wait too long for its turn, or has waited too long. That is two seconds, which a burst
 * and clients that wait for their responses may take. It is `maxWaitMs` in an overload: the event loop or the database pool has had
 * a queue for half a second, and more requests arrive than end. The limit of requests in flight adapts as well. It shrinks by a
 * quarter while requests wait too long for their turn, or when even the shortest wait for a database connection in a sample was
 * too long. Otherwise it grows by a twentieth. Time that the host gave to others is not part of any wait.
 */
export class Load implements Part {
  readonly retryAfterSeconds: number;
  readonly #limits: Resolved<typeof loadRules>;
  #onlyCounts: boolean;
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #arriving = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();
  #inFlight = 0;
  #limit: number;
  #samples = 0;
  #eventLoopDelayMs = 0;
  /** The samples since which there was always a queue. */
  #queuedSamples = 0;
  readonly #demand = new Demand();
  #isExcess = false;
  #hostTime: HostTime | null = null;
  readonly #hostSamples: { readonly tookMs: number; readonly lastedMs: number }[] = [];
  /** The samples since the event loop was last idle. */
  #busySamples: readonly { readonly turns: number; readonly ownMs: number }[] = [];
  /** The share of the time that the host left to this process. */
  #ownShare = 1;
  /** The turns of this sample in which a request was served. */
  #turnsTaken = 0;
  /** How long the event loop takes from one turn to the next; 0 if it is not busy. */
  #turnMs = 0;
  /** The number of requests that were rejected, or would have been, by reason. */
  readonly rejections: Record<LoadReason, number> = { wait: 0, "in-flight": 0, "event-loop": 0 };
  #sampleBegan = performance.now();
  readonly #turns: EventLoopTurns = new EventLoopTurns(SLICE_MS, () => this.#isAccepting());
  /** Whether this round accepted a connection. */
  #hasAccepted = false;
  /** The rounds since the last slice that only accepted connections. */
  #acceptRounds = 0;
  /** The number of requests that wait for their turn. */
  #waiting = 0;
  /** The maximum in this sample. */
  #mostInFlight = 0;
  #longestTurnMs = 0;
  #shortestWaitMs = Number.POSITIVE_INFINITY;

  constructor(options: LoadOptions) {
    this.#limits = resolveOptions("PorticoApp.load", options, loadRules);
    this.#onlyCounts = this.#limits.report;
    this.retryAfterSeconds = this.#limits.retryAfterSeconds;
    this.#limit = this.#limits.maxInFlight;
  }

  /** From now on, requests that would be rejected are counted and served, as with `report`. */
  onlyCount(): void {
    this.#onlyCounts = true;
  }

  /** Starts to watch the event loop. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#histogram.enable();
    this.#hostTime = new HostTime();
    this.#utilization = performance.eventLoopUtilization();
    this.#sampleBegan = performance.now();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#histogram.disable();
  }

  *figures(): Iterable<Figure> {
    let bodies = 0;
    for (const count of this.#arriving.values()) bodies += count;
    yield { series: "http_server_active_requests", labels: [], value: this.#inFlight };
    yield { series: "portico_load_limit", labels: [], value: this.#limit };
    yield { series: "portico_load_limit_max", labels: [], value: this.#limits.maxInFlight };
    yield { series: "portico_load_waiting_requests", labels: [], value: this.#waiting };
    yield { series: "portico_load_arriving_bodies", labels: [], value: bodies };
  }

  get isOverloaded(): boolean {
    const isFull = this.#inFlight >= this.#limit || this.#eventLoopDelayMs > this.#limits.maxEventLoopDelayMs;
    return isFull && !this.#onlyCounts;
  }

  /** How long a request may wait in all, without the time that the host gave to others. */
  get #patienceMs(): number {
    const { maxWaitMs } = this.#limits;
    return this.#queuedSamples > SUSTAINED_SAMPLES && this.#isExcess ? maxWaitMs : Math.max(maxWaitMs, BURST_MS);
  }

  /** How long a request that arrives now will wait for its turn; 0 behind a few, whose pace says little. */
  get expectedWaitMs(): number {
    return this.#waiting < MIN_TAKEN ? 0 : (this.#waiting * this.#turnMs) / this.#ownShare;
  }

  /**
   * Starts a request in its turn, with how long it waited: at once if it may, otherwise later. The promise then rejects if
   * `start` throws. `start` returns whether the request is served: the pace of turns does not include rejections.
   */
  inTurn(start: (waitedMs: number) => boolean): void | Promise<void> {
    const turn = this.#waiting >= this.#limits.maxInFlight ? undefined : this.#turns.take();
    if (turn === undefined) {
      this.#turnsTaken++;
      start(0);
      return;
    }
    const began = performance.now();
    this.#waiting++;
    return turn.then(() => {
      this.#waiting--;
      const waitedMs = performance.now() - began;
      this.#longestTurnMs = Math.max(this.#longestTurnMs, waitedMs);
      if (start(waitedMs)) this.#turnsTaken++;
    });
  }

  /** A connection was accepted. Node accepts one in each round, so requests wait until no more of them are waiting. */
  accepted(): void {
    this.#hasAccepted = true;
    this.#turns.leaveOut();
  }

  #isAccepting(): boolean {
    const isAccepting = this.#hasAccepted && this.#acceptRounds < ACCEPT_ROUNDS;
    this.#acceptRounds = isAccepting ? this.#acceptRounds + 1 : 0;
    this.#hasAccepted = false;
    return isAccepting;
  }

  /** A request arrives. It is admitted, or rejected, by `admits`. */
  arrive(): void {
    this.#demand.arrive();
  }

  /** Whether another request is accepted that waits this long for its turn. Counts it if not. */
  admits(hasCredential: boolean, waitMs: number): boolean {
    const reason = this.#reason(hasCredential, waitMs);
    if (reason === null) return true;
    this.rejections[reason]++;
    if (this.#onlyCounts) return true;
    this.#demand.reject();
    return false;
  }

  #reason(hasCredential: boolean, waitMs: number): LoadReason | null {
    const { maxInFlight, maxEventLoopDelayMs } = this.#limits;
    const share = hasCredential || this.#limit === maxInFlight ? 1 : ANONYMOUS_SHARE;
    if (waitMs > 0 && this.#own(waitMs) > this.#patienceMs * share) return "wait";
    // Rounds that only accept connections are short, and end by themselves.
    const isAccepting = this.#hasAccepted || this.#acceptRounds > 0;
    if (this.#inFlight >= this.#limit * share || (this.#waiting >= maxInFlight && !isAccepting)) return "in-flight";
    return this.#eventLoopDelayMs > maxEventLoopDelayMs ? "event-loop" : null;
  }

  #own(ms: number): number {
    return ms * this.#ownShare;
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
    const now = performance.now();
    this.#readHostTime(now - this.#sampleBegan);
    this.#samples = (this.#samples + 1) % DELAY_SAMPLES;
    if (this.#samples === 0) this.#readDelay();
    const utilization = performance.eventLoopUtilization();
    const isBusy = performance.eventLoopUtilization(utilization, this.#utilization).utilization > 1 - IDLE_SHARE;
    const isQueued = isBusy || this.#isPoolLate(this.#limits.maxWaitMs);
    this.#queuedSamples = isQueued ? this.#queuedSamples + 1 : 0;
    const lastedMs = now - this.#sampleBegan;
    // Unless the event loop was busy, it could have taken more turns.
    const sample = { turns: this.#turnsTaken, ownMs: this.#own(lastedMs) };
    this.#busySamples = isBusy ? [...this.#busySamples, sample].slice(-PACE_SAMPLES) : [];
    this.#turnsTaken = 0;
    this.#turnMs = total(this.#busySamples, "ownMs") / Math.max(1, total(this.#busySamples, "turns"));
    this.#isExcess = this.#demand.sample(this.#inFlight + this.#waiting, this.#ownShare, lastedMs);
    this.#sampleBegan = now;
    this.#utilization = utilization;
    this.#adapt();
  }

  #readHostTime(lastedMs: number): void {
    const samples = this.#hostSamples;
    samples.push({ tookMs: this.#hostTime?.takenMs() ?? 0, lastedMs });
    if (samples.length > PACE_SAMPLES) samples.shift();
    const lasted = total(samples, "lastedMs");
    this.#ownShare = lasted > 0 ? Math.max(MIN_OWN, 1 - total(samples, "tookMs") / lasted) : 1;
  }

  #readDelay(): void {
    const mean = this.#histogram.mean / 1e6;
    this.#eventLoopDelayMs = Number.isNaN(mean) ? 0 : this.#own(mean - RESOLUTION_MS);
    this.#histogram.reset();
  }

  #isPoolLate(patienceMs: number): boolean {
    return this.#shortestWaitMs !== Number.POSITIVE_INFINITY && this.#own(this.#shortestWaitMs) > patienceMs;
  }

  #adapt(): void {
    const patienceMs = this.#patienceMs;
    const isLate = this.#own(this.#longestTurnMs) > patienceMs || this.#isPoolLate(patienceMs);
    const next = isLate
      ? Math.max(MIN_TAKEN, Math.floor(Math.min(this.#limit, this.#mostInFlight) * 0.75))
      : Math.ceil(this.#limit * 1.05);
    this.#limit = Math.min(this.#limits.maxInFlight, next);
    this.#mostInFlight = this.#inFlight;
    this.#longestTurnMs = 0;
    this.#shortestWaitMs = Number.POSITIVE_INFINITY;
  }
}

function total<Field extends string>(samples: readonly Readonly<Record<Field, number>>[], field: Field): number {
  return samples.reduce((sum, sample) => sum + sample[field], 0);
}
