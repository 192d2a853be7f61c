import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Logger } from "../../core/logger.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import type {
  OperationAround,
  OperationContext,
  OperationEnd,
  OperationFunction,
  OperationHook,
  OperationResult,
} from "./operation-hook.ts";

/** How long a hook may take before a line in the log reports it. */
const LATE_MS = 10_000;
/** The maximum number of pending calls of one hook, because each keeps the result of its operation in memory. */
const MOST_UNFINISHED = 1_000;

/**
 * The hooks of one endpoint. Responses neither wait for hooks nor fail with them: their promises are awaited separately, and
 * their errors go to the log.
 */
export class OperationHooks {
  readonly #called: CalledHook[] = [];
  readonly #around: OperationAround[] = [];
  #isTracing = false;

  /** Throws `ConfigurationError` for a value that is not a hook. */
  add(hook: OperationHook): void {
    const { onOperation, around, traces } = membersOf(hook);
    const isHook = (onOperation ?? around) !== undefined && isCallable(onOperation) && isCallable(around);
    if (!isHook)
      throw new ConfigurationError(
        "onOperation",
        "given a function (result, context), or an object with onOperation or around",
        hook,
      );
    if (onOperation !== undefined) this.#called.push(new CalledHook((...end) => onOperation.call(hook, ...end)));
    if (around !== undefined) this.#around.push((run) => around.call(hook, run));
    if (traces === true) this.#isTracing = true;
  }

  get isEmpty(): boolean {
    return this.#called.length === 0 && this.#around.length === 0;
  }

  /** Whether fields must be timed. */
  get isTracing(): boolean {
    return this.#isTracing;
  }

  get around(): readonly OperationAround[] {
    return this.#around;
  }

  /** Calls all hooks. */
  run({ result, context }: OperationEnd): void {
    for (const hook of this.#called) hook.call(result, context);
  }
}

/** Logs the error of a hook. */
export function logHookFailure(log: Logger, err: unknown): void {
  log.error({ err }, "an operation hook failed");
}

class CalledHook {
  readonly #hook: OperationFunction;
  #unfinished = 0;
  // Each warning is logged once until the hook has caught up.
  #isLateSaid = false;
  #isFullSaid = false;

  constructor(hook: OperationFunction) {
    this.#hook = hook;
  }

  call(result: OperationResult, context: OperationContext): void {
    const { log } = context;
    if (this.#unfinished >= MOST_UNFINISHED) return this.#sayFull(log);
    try {
      const work = this.#hook(result, context);
      if (isPromise(work)) void this.#finish(work, log);
    } catch (err) {
      logHookFailure(log, err);
    }
  }

  async #finish(work: PromiseLike<unknown>, log: Logger): Promise<void> {
    this.#unfinished++;
    const late = setTimeout(() => this.#sayLate(log), LATE_MS).unref();
    try {
      await work;
    } catch (err) {
      logHookFailure(log, err);
    } finally {
      clearTimeout(late);
      if (--this.#unfinished === 0) this.#isLateSaid = this.#isFullSaid = false;
    }
  }

  #sayLate(log: Logger): void {
    if (this.#isLateSaid) return;
    this.#isLateSaid = true;
    log.error({ unfinished: this.#unfinished }, `an operation hook has not finished after ${LATE_MS / 1000} s`);
  }

  #sayFull(log: Logger): void {
    if (this.#isFullSaid) return;
    this.#isFullSaid = true;
    log.error({ unfinished: this.#unfinished }, "skipping an operation hook until its pending calls finish");
  }
}

interface HookMembers {
  readonly onOperation?: OperationFunction;
  readonly around?: OperationAround;
  readonly traces?: boolean;
}

function membersOf(hook: unknown): HookMembers {
  if (typeof hook === "function") return { onOperation: hook as OperationFunction };
  return typeof hook === "object" && hook !== null ? hook : {};
}

function isCallable(value: unknown): boolean {
  return value === undefined || typeof value === "function";
}
