import type { Logger } from "../../core/logger.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { FormattedError } from "../errors/format-error.ts";

/** How an operation ended. */
export interface OperationResult {
  /** `null` when there is none. */
  readonly data: unknown;
  /** As they stand in the answer. */
  readonly errors: readonly FormattedError[];
  /** Whether there are none. */
  readonly ok: boolean;
}

/** Which operation it was. */
export interface OperationContext {
  /** By the request, else by a document that holds exactly one operation and names it; `null` for an unnamed one. */
  readonly operationName: string | null;
  /** The measured cost; `null` while cost analysis is off, and when the operation was refused before it was measured. */
  readonly cost: number | null;
  /** When it started, in milliseconds on the clock that never goes back. */
  readonly started: number;
  /** How long it took. */
  readonly durationSeconds: number;
  /** Whether it was refused before it ran: by the parser, the limits, validation, its variables. */
  readonly isRefused: boolean;
}

export type OperationFunction = (result: OperationResult, context: OperationContext) => MaybePromise<unknown>;
/** A function, or an object that has one. */
export type OperationHook = OperationFunction | { onOperation: OperationFunction };

/** Runs the hooks. The answer does not wait for them, and does not fail with them. */
export function runHooks(
  hooks: readonly OperationHook[],
  result: OperationResult,
  context: OperationContext,
  log: Logger,
): void {
  for (const hook of hooks) void runHook(hook, result, context, log);
}

async function runHook(
  hook: OperationHook,
  result: OperationResult,
  context: OperationContext,
  log: Logger,
): Promise<void> {
  try {
    await (typeof hook === "function" ? hook(result, context) : hook.onOperation(result, context));
  } catch (err) {
    log.error({ err }, "an operation hook failed");
  }
}
