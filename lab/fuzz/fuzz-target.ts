import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../servers/child.ts";
import { plainRequest } from "./plain-request.ts";
import type { ProcessReport, ReportOrder } from "./process-report.ts";
import { waitedForCpu } from "./waited-for-cpu.ts";

/** How to start the process, for the first time and again after a crash. */
export interface TargetStart {
  readonly file: URL;
  readonly execArgv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The settings of the first process, and those of the processes after it. */
  readonly settings: readonly [first: object, later: object];
  /** The path of an ordinary request. */
  readonly probePath: string;
  /** How long failed requests are repeated while the machine is busy, in milliseconds. */
  readonly recoveryMs: number;
}

export const PROBE_MS = 1_000;
const PROBES = 3;
const CLOSING_MS = 5_000;

/** The process that is fuzzed. */
export class FuzzTarget {
  readonly #start: TargetStart;
  #child: Child;
  #port: number;

  private constructor(start: TargetStart, child: Child, port: number) {
    this.#start = start;
    this.#child = child;
    this.#port = port;
  }

  static async start(start: TargetStart): Promise<FuzzTarget> {
    const child = fork(start, start.settings[0]);
    return new FuzzTarget(start, child, await child.hear<number>("port"));
  }

  get port(): number {
    return this.#port;
  }

  get isAlive(): boolean {
    return this.#child.isAlive;
  }

  /** Starts the process again if it has crashed. */
  async revive(): Promise<void> {
    if (this.isAlive) return;
    this.#child = fork(this.#start, this.#start.settings[1]);
    this.#port = await this.#child.hear<number>("port");
  }

  /** The report since the last one; `null` if the process has crashed. */
  async report(collectsGarbage = false): Promise<ProcessReport | null> {
    // A process that crashes has read the input, and needs a moment for it.
    if (!this.isAlive) return null;
    const order: ReportOrder = { report: true, collectsGarbage };
    try {
      return await this.#child.ask<ProcessReport>("reported", order);
    } catch {
      return null;
    }
  }

  /**
   * The fastest of a few ordinary requests, in milliseconds, without the time in which processes waited for a core. While the
   * machine is busy, a request may fail because a database is too late, so it is sent again.
   */
  async probe(): Promise<number> {
    let fastest = Number.POSITIVE_INFINITY;
    const deadline = performance.now() + this.#start.recoveryMs;
    for (let left = PROBES; left > 0 && fastest > PROBE_MS && this.isAlive; ) {
      const [start, waited] = [performance.now(), waitedForCpu()];
      const status = await plainRequest(this.#port, { path: this.#start.probePath }).then(
        (answer) => answer.status,
        () => 0,
      );
      // A 503 is the documented response to overload, which ends with the load.
      if (status === 503) await sleep(PROBE_MS);
      const [took, lost] = [performance.now() - start, waitedForCpu() - waited];
      if (status === 200) fastest = Math.min(fastest, took - lost);
      const isBusy = lost > took / 2 && performance.now() < deadline;
      if (status === 200 || !isBusy) left--;
    }
    return fastest;
  }

  /** The heap once the connections of all inputs are closed. */
  async restingHeap(): Promise<number | null> {
    const deadline = performance.now() + CLOSING_MS;
    let report = await this.report(true);
    while (report !== null && report.connections > 0 && performance.now() < deadline) {
      await sleep(50);
      report = await this.report(true);
    }
    return report?.heap ?? null;
  }

  /** Kills the process and waits for its end. */
  async end(): Promise<void> {
    this.#child.kill();
    await this.#child.ended(CLOSING_MS);
  }
}

function fork({ file, execArgv, env }: TargetStart, settings: object): Child {
  return new Child(file, settings, ["--expose-gc", "--disable-warning=ExperimentalWarning", ...execArgv], env);
}
