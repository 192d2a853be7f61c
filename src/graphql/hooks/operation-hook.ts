import type { Logger } from "../../core/logger.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { FormattedError } from "../errors/format-error.ts";
import type { FieldTrace } from "./field-trace.ts";

/** How an operation ended. */
export interface OperationResult {
  /** `null` when there is none, and for a subscription, whose values have been sent. */
  readonly data: unknown;
  /** As they stand in the response, at most eleven; of a subscription the first 100 that were sent. */
  readonly errors: readonly FormattedError[];
  /** Whether there are none. */
  readonly ok: boolean;
}

/** What was found out about an operation, however far it came. */
export interface OperationFindings {
  /** By the request, else by a document that holds exactly one operation and names it; `null` for an unnamed one. */
  readonly operationName: string | null;
  /** `null` when it was refused before that was known. */
  readonly operationType: "query" | "mutation" | "subscription" | null;
  /** The measured cost; `null` while cost analysis is off, and when the operation was refused before it was measured. */
  readonly cost: number | null;
  /** The `extensions` of the request, as the client sent them; empty without any. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Which operation it was. */
export interface OperationContext extends OperationFindings {
  /** When it started, in milliseconds on the clock that never goes back. */
  readonly started: number;
  /** How long it took; how long it was open, for a subscription. */
  readonly durationSeconds: number;
  /** Whether it was refused before it ran: by the parser, the limits, validation, its variables. */
  readonly isRefused: boolean;
  /** The log of the application. */
  readonly log: Logger;
  /** How long its fields took; `null` unless a hook `traces`. */
  readonly trace: FieldTrace | null;
}

/** What a hook is called with. */
export interface OperationEnd {
  readonly result: OperationResult;
  readonly context: OperationContext;
}

export type OperationFunction = (result: OperationResult, context: OperationContext) => MaybePromise<unknown>;

/**
 * Has the operation run inside of something, such as a span or an `AsyncLocalStorage`. It calls `run` at once, and once; what
 * `run` gives is there when the operation has ended, hooks apart.
 */
export type OperationAround = (run: () => Promise<OperationEnd>) => unknown;

interface HookOptions {
  /** Whether the fields of every operation are timed, for `context.trace`. @default false */
  readonly traces?: boolean;
}

/** A function, or an object that has one. */
export type OperationHook =
  | OperationFunction
  | (HookOptions & { readonly onOperation: OperationFunction; readonly around?: OperationAround })
  | (HookOptions & { readonly onOperation?: OperationFunction; readonly around: OperationAround });
