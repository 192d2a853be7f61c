import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Figure, Part } from "./parts.ts";

/** The resolution of the histograms. A timer that is on time is recorded with this value. */
const RESOLUTION_MS = 20;
const ROTATE_MS = 15_000;

/** The measurements since a time. */
interface Window {
  readonly histogram: ReturnType<typeof monitorEventLoopDelay>;
  utilization: EventLoopUtilization;
}

/**
 * The delay and utilization of the event loop during the last 15 to 30 seconds. Two windows overlap, so that every reader sees
 * every delay, however many readers there are.
 */
export class EventLoop implements Part {
  readonly #windows: readonly [Window, Window] = [newWindow(), newWindow()];
  /** The index of the older window, which is read. */
  #older = 0;
  #timer: NodeJS.Timeout | undefined;

  start(): void {
    if (this.#timer !== undefined) return;
    for (const window of this.#windows) {
      window.histogram.enable();
      window.utilization = performance.eventLoopUtilization();
    }
    this.#timer = setInterval(() => this.#rotate(), ROTATE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const { histogram } of this.#windows) histogram.disable();
  }

  *figures(): Iterable<Figure> {
    const { histogram, utilization } = this.#windows[this.#older] as Window;
    const share = performance.eventLoopUtilization(performance.eventLoopUtilization(), utilization).utilization;
    yield { series: "nodejs_eventloop_delay_mean_seconds", labels: [], value: secondsOf(histogram.mean) };
    yield { series: "nodejs_eventloop_delay_p99_seconds", labels: [], value: secondsOf(histogram.percentile(99)) };
    yield { series: "nodejs_eventloop_delay_max_seconds", labels: [], value: secondsOf(histogram.max) };
    yield { series: "nodejs_eventloop_utilization_ratio", labels: [], value: share };
    yield { series: "process_memory_usage_bytes", labels: [], value: process.memoryUsage.rss() };
  }

  #rotate(): void {
    const oldest = this.#windows[this.#older] as Window;
    oldest.histogram.reset();
    oldest.utilization = performance.eventLoopUtilization();
    this.#older = 1 - this.#older;
  }
}

function newWindow(): Window {
  return {
    histogram: monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
    utilization: performance.eventLoopUtilization(),
  };
}

/** An empty histogram has no mean, and its maximum is 0. */
function secondsOf(nanoseconds: number): number {
  return Number.isNaN(nanoseconds) ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1_000);
}
