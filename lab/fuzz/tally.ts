import { MAX_DELAY_MS } from "./checks.ts";
import { sizeOf } from "./input.ts";
import type { Played } from "./play-input.ts";
import type { ProcessReport } from "./process-report.ts";

const KEPT_GROUPS = 50;
/** The CPU time of a group may be this many times the usual one before its inputs are tried one by one. */
const UNUSUAL_RATIO = 2;
const UNUSUAL_MS = 40;

/** The figures of one generator. */
export class Tally {
  inputs = 0;
  requests = 0;
  bytes = 0;
  cpuMs = 0;
  longestDelayMs = 0;
  longestCollectionMs = 0;
  slowestProbeMs = 0;
  /** Responses by their status, and closed sockets as "ws". */
  readonly statuses: Record<string, number> = {};
  readonly #recentCpuMs: number[] = [];

  add(played: readonly Played[], report: ProcessReport | null, probeMs: number): void {
    for (const { input, responses, closeCode } of played) {
      this.inputs++;
      this.requests += input.requests * (input.copies ?? 1);
      this.bytes += sizeOf(input);
      for (const { status } of responses) this.#count(String(status));
      if (closeCode !== null) this.#count(`ws ${closeCode}`);
    }
    if (Number.isFinite(probeMs)) this.slowestProbeMs = Math.max(this.slowestProbeMs, probeMs);
    if (report === null) return;
    this.cpuMs += report.cpuMs;
    this.longestDelayMs = Math.max(this.longestDelayMs, report.delayMs);
    this.longestCollectionMs = Math.max(this.longestCollectionMs, report.collectionMs);
  }

  /** Whether the group was slower than others of this generator, or blocked the event loop. Call it once per group. */
  isUnusual({ cpuMs, delayMs }: ProcessReport): boolean {
    const usual = this.#recentCpuMs.toSorted((a, b) => a - b)[Math.floor(this.#recentCpuMs.length / 2)] ?? cpuMs;
    this.#recentCpuMs.push(cpuMs);
    if (this.#recentCpuMs.length > KEPT_GROUPS) this.#recentCpuMs.shift();
    return cpuMs > UNUSUAL_RATIO * usual + UNUSUAL_MS || delayMs > MAX_DELAY_MS;
  }

  #count(key: string): void {
    this.statuses[key] = (this.statuses[key] ?? 0) + 1;
  }
}
