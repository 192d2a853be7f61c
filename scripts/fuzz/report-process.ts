import type { Server } from "node:http";
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
    const figures = { cpuMs: cpu - reportedCpu, delayMs: delay.take(), connections };
    const heap = collectsGarbage ? await heapAfterCollection() : null;
    const reported: ProcessReport = { ...figures, log: log.splice(0), heap };
    process.send?.({ reported });
    // The collection and this report are no work of an input.
    reportedCpu = mainThreadMs();
    delay.take();
  }
}

/**
 * The longest delay of a timer, in CPU time of the main thread. `monitorEventLoopDelay` measures the time on the clock, which
 * also passes while a busy machine runs other processes.
 */
class EventLoopDelay {
  #longest = 0;
  #at = mainThreadMs();

  constructor() {
    setInterval(() => this.#tick(), TICK_MS).unref();
  }

  take(): number {
    this.#tick();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  #tick(): void {
    const now = mainThreadMs();
    this.#longest = Math.max(this.#longest, now - this.#at);
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
