import { ConfigurationError } from "../../core/configuration-error.ts";
import { CalledHook } from "../../kernel/hooks/called-hook.ts";
import type {
  OperationAround,
  OperationContext,
  OperationEnd,
  OperationFunction,
  OperationHook,
  OperationResult,
} from "./operation-hook.ts";

/** How the log names one of these hooks. */
export const HOOK_NAME = "an operation hook";

/** The hooks of one endpoint. */
export class OperationHooks {
  readonly #called: CalledHook<[OperationResult, OperationContext]>[] = [];
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
    if (onOperation !== undefined)
      this.#called.push(new CalledHook(HOOK_NAME, (...end) => onOperation.call(hook, ...end)));
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
    for (const hook of this.#called) hook.call(context.log, result, context);
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
