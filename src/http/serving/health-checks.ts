import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { outsideRequest } from "../../core/outside-request.ts";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";

/** A check of something the process depends on: returns if it works, throws if it does not. */
export type HealthCheck = () => MaybePromise<unknown>;

/** A check, and whether the process is ready while it fails. */
export interface DeclaredCheck {
  readonly run: HealthCheck;
  /** Otherwise a failure is only reported, because most requests still work. */
  readonly isRequired: boolean;
  /** How long its result is used again. */
  readonly keepMs?: number;
  /** Whether there is nothing to check yet. */
  readonly isLeftOut?: () => boolean;
}

export type CheckResult = "ok" | "failed";

const TIMEOUT_MS = 2_000;
/** How long a check that has not ended is left running before it is called again. */
const ABANDONED_MS = 10_000;
/** A scrape of metrics starts the checks if their last results are older. */
const FRESH_MS = 1_000;

/** The readiness checks of an application and their last results. */
export class HealthChecks implements Part {
  readonly #clock: Clock;
  readonly #runs: readonly (readonly [name: string, check: DeclaredCheck, run: () => Promise<CheckResult>])[];
  #results: Readonly<Record<string, CheckResult>> = {};
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(checks: Readonly<Record<string, DeclaredCheck>>, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#runs = Object.entries(checks).map(([name, check]) => [name, check, kept(check, clock, judging(name, log))]);
  }

  /** Runs the checks. The results name the ones that failed but not why, because anyone may read them: the log has the reasons. */
  async run(): Promise<Readonly<Record<string, CheckResult>>> {
    this.#ranAt = this.#clock.monotonic();
    const runs = this.#runs.filter(([, { isLeftOut }]) => isLeftOut?.() !== true);
    const results = await Promise.all(runs.map(async ([name, , run]) => [name, await run()] as const));
    this.#results = Object.fromEntries(results);
    return this.#results;
  }

  /** Whether the process is ready with these results. */
  isReady(results: Readonly<Record<string, CheckResult>>): boolean {
    return this.#runs.every(([name, { isRequired }]) => !isRequired || results[name] !== "failed");
  }

  /** The last result of a check. */
  resultOf(name: string): CheckResult | undefined {
    return this.#results[name];
  }

  *figures(): Iterable<Figure> {
    // A scrape does not wait for the servers: it shows the last results, and starts the checks for the next one.
    // They are not part of the request that scrapes, and may outlast it.
    if (this.#clock.monotonic() - this.#ranAt > FRESH_MS) outsideRequest(() => inBackground(this.run()));
    for (const [name, result] of Object.entries(this.#results))
      yield { series: "portico_check_up", labels: [name], value: result === "ok" ? 1 : 0 };
  }
}

type Judge = (result: CheckResult, error?: unknown) => CheckResult;

/** Logs why a check fails when it begins to fail, and when it passes again. */
function judging(name: string, log: Logger): Judge {
  let last: CheckResult = "ok";
  return (result, err) => {
    if (result !== last && result === "failed") log.warn({ check: name, err }, `readiness check failed: ${name}`);
    else if (result !== last) log.info({ check: name }, `readiness check passes again: ${name}`);
    last = result;
    return result;
  };
}

/**
 * Calls a check unless a call is in progress or has just ended, whose result is then shared: anyone may send masses of
 * requests.
 */
function kept({ run: check, keepMs = 0 }: DeclaredCheck, clock: Clock, judge: Judge): () => Promise<CheckResult> {
  let running: Promise<CheckResult> | null = null;
  let last: { readonly result: Promise<CheckResult>; readonly at: number } | null = null;
  return () => {
    if (running !== null) return running;
    if (last !== null && clock.monotonic() - last.at < keepMs) return last.result;
    const checking = (async () => check())();
    const result = withTimeout(TIMEOUT_MS, checking).then(
      () => judge("ok"),
      (error: unknown) => judge("failed", error),
    );
    running = result;
    const end = (): void => {
      running = null;
      last = { result, at: clock.monotonic() };
    };
    withTimeout(ABANDONED_MS, checking).then(end, end);
    return result;
  };
}
