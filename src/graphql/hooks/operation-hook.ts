import type { Logger } from "../../core/logger.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { FormattedError } from "../errors/formatted-error.ts";
import type { FieldTrace } from "../operation/field-trace.ts";

/** How an operation ended. */
export interface OperationResult {
  /** `null` without data, and for a subscription, whose events were already sent. */
  readonly data: unknown;
  /** The errors in the response, at most eleven; for a subscription, the first 100 that were sent. */
  readonly errors: readonly FormattedError[];
  /** Whether there are no errors. */
  readonly ok: boolean;
}

/** The facts about an operation that are known early, also for one that is rejected. */
export interface OperationFindings {
  /** From the request, or from a document with exactly one operation; `null` for an unnamed one. */
  readonly operationName: string | null;
  /** `null` if the operation was rejected before its type was known. */
  readonly operationType: "query" | "mutation" | "subscription" | null;
  /** The measured cost; `null` without cost analysis, and if the operation was rejected before it was measured. */
  readonly cost: number | null;
  /** The `extensions` of the request, exactly as sent; empty if there are none. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** The operation that a hook is called for. */
export interface OperationContext extends OperationFindings {
  /** When it started, in milliseconds on the monotonic clock. */
  readonly started: number;
  /** How long it took; for a subscription, how long it was open. */
  readonly durationSeconds: number;
  /** Whether it was rejected before it ran, for example by the parser, the limits, validation or its variables. */
  readonly isRefused: boolean;
  /** The logger of the application. */
  readonly log: Logger;
  /** How long its fields took; `null` unless a hook `traces`. */
  readonly trace: FieldTrace | null;
}

/** The arguments of a hook. */
export interface OperationEnd {
  readonly result: OperationResult;
  readonly context: OperationContext;
}

export type OperationFunction = (result: OperationResult, context: OperationContext) => MaybePromise<unknown>;

/**
 * Runs the operation inside a span, an `AsyncLocalStorage` or something similar. It must call `run` immediately and once. The
 * promise of `run` resolves when the operation has ended, without waiting for other hooks.
 */
export type OperationAround = (run: () => Promise<OperationEnd>) => unknown;

interface HookOptions {
  /** Whether the fields of every operation are timed, for `context.trace`. @default false */
  readonly traces?: boolean;
}

/** A function, or an object with `onOperation`, `around` or both. */
export type OperationHook =
  | OperationFunction
  | (HookOptions & { readonly onOperation: OperationFunction; readonly around?: OperationAround })
  | (HookOptions & { readonly onOperation?: OperationFunction; readonly around: OperationAround });
