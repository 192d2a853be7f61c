import { loggable } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";

/** How long a hook may take before a line in the log reports it. */
const LATE_MS = 10_000;
/** The maximum number of pending calls of one hook, because each keeps its arguments in memory. */
const MAX_UNFINISHED = 1_000;

/** Logs the error of a hook; `name` is such as `an operation hook`. */
export function logHookFailure(log: Logger, name: string, err: unknown): void {
  log.error({ err: loggable(err) }, `${name} failed`);
}

/**
 * A hook of the application. Responses neither wait for it nor fail with it: its promise is awaited separately, and its
 * errors go to the log.
 */
export class CalledHook<Args extends readonly unknown[]> {
  readonly #name: string;
  readonly #hook: (...args: Args) => unknown;
  #unfinished = 0;
  // Each warning is logged once until the hook has caught up.
  #isLateSaid = false;
  #isFullSaid = false;

  constructor(name: string, hook: (...args: Args) => unknown) {
    this.#name = name;
    this.#hook = hook;
  }

  call(log: Logger, ...args: Args): void {
    if (this.#unfinished >= MAX_UNFINISHED) return this.#sayFull(log);
    try {
      const work = this.#hook(...args);
      if (isPromise(work)) inBackground(this.#finish(work, log), log);
    } catch (err) {
      logHookFailure(log, this.#name, err);
    }
  }

  async #finish(work: PromiseLike<unknown>, log: Logger): Promise<void> {
    this.#unfinished++;
    const late = setTimeout(() => this.#sayLate(log), LATE_MS).unref();
    try {
      await work;
    } catch (err) {
      logHookFailure(log, this.#name, err);
    } finally {
      clearTimeout(late);
      if (--this.#unfinished === 0) this.#isLateSaid = this.#isFullSaid = false;
    }
  }

  #sayLate(log: Logger): void {
    if (this.#isLateSaid) return;
    this.#isLateSaid = true;
    log.error({ unfinished: this.#unfinished }, `${this.#name} has not finished after ${LATE_MS / 1000} s`);
  }

  #sayFull(log: Logger): void {
    if (this.#isFullSaid) return;
    this.#isFullSaid = true;
    log.error({ unfinished: this.#unfinished }, `skipping ${this.#name} until its pending calls finish`);
  }
}

/** A hook that runs work inside a span, an `AsyncLocalStorage` or something similar. It calls `run` immediately and once. */
export type AroundHook<End> = (run: () => Promise<End>) => unknown;

/**
 * Runs the work inside the hooks, the first one outermost, and returns what it returns. Each hook receives the promise of the
 * end. A hook that fails, or does not start the work, is logged and skipped. The work must not throw.
 */
export function runInside<T, End>(
  hooks: readonly AroundHook<End>[],
  work: () => T,
  { ended, log, name }: { readonly ended: Promise<End>; readonly log: Logger; readonly name: string },
): T {
  return hooks.reduceRight<() => T>(
    (next, hook) => () => {
      let running: { readonly value: T } | null = null;
      const start = (): Promise<End> => {
        running ??= { value: next() };
        return ended;
      };
      const finish = async (): Promise<void> => {
        try {
          await hook(start);
        } catch (err) {
          logHookFailure(log, name, err);
        }
      };
      inBackground(finish(), log);
      return (running ?? { value: next() }).value;
    },
    work,
  )();
}
