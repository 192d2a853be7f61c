import type { Server } from "node:http";
import { type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import type { ProcessReport, ReportOrder } from "./process-report.ts";

const TICK_MS = 10;

/** Reports about this process over its IPC channel, and announces the port. */
export function reportProcess(server: Server, port: number, log: string[]): void {
  const delay = new EventLoopDelay();
  let reportedCpu = mainThreadMs();

  process.on("message", ({ collectsGarbage }: ReportOrder) => void report(collectsGarbage));
  process.send?.({ port });

  async function report(collectsGarbage: boolean): Promise<void> {
    const connections = await connectionCount(server);
    const cpu = mainThreadMs();
    const figures = { cpuMs: cpu - reportedCpu, ...(await delay.take()), connections };
    const heap = collectsGarbage ? await heapAfterCollection() : null;
    const reported: ProcessReport = { ...figures, log: log.splice(0), heap };
    process.send?.({ reported });
    // The collection and this report are no work of an input.
    reportedCpu = mainThreadMs();
    await delay.take();
  }
}

/** A time in which no timer ran: its CPU time, and when it was by the clock. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly cpuMs: number;
}

/**
 * The longest delay of a timer, in CPU time of the main thread. `monitorEventLoopDelay` measures the time on the clock, which
 * also passes while a busy machine runs other processes. Garbage collection is subtracted: what it takes depends on the heap.
 */
class EventLoopDelay {
  #gaps: Gap[] = [];
  #cpu = mainThreadMs();
  #at = performance.now();
  #collections: readonly PerformanceEntry[] = [];

  constructor() {
    setInterval(() => this.#tick(), TICK_MS).unref();
    new PerformanceObserver((list) => {
      this.#collections = [...this.#collections, ...list.getEntries()];
    }).observe({ entryTypes: ["gc"] });
  }

  /** The figures since the last call. */
  async take(): Promise<Pick<ProcessReport, "delayMs" | "collectionMs">> {
    this.#tick();
    const gaps = this.#gaps;
    this.#gaps = [];
    // Collections are announced in a later turn.
    for (let n = 0; n < 3; n++) await turn();
    const collections = this.#collections;
    this.#collections = [];
    const collectedIn = ({ from, to }: Gap): number =>
      collections.reduce(
        (sum, { startTime, duration }) =>
          sum + Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime)),
        0,
      );
    return {
      delayMs: Math.max(0, ...gaps.map((gap) => gap.cpuMs - collectedIn(gap))),
      collectionMs: Math.max(0, ...collections.map(({ duration }) => duration)),
    };
  }

  #tick(): void {
    const [now, cpu] = [performance.now(), mainThreadMs()];
    if (cpu - this.#cpu > TICK_MS) this.#gaps.push({ from: this.#at, to: now, cpuMs: cpu - this.#cpu });
    this.#cpu = cpu;
    this.#at = now;
  }
}

function mainThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function heapAfterCollection(): Promise<number> {
  // An object that a finalizer releases is collected the next time.
  for (let n = 0; n < 3; n++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function connectionCount(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
