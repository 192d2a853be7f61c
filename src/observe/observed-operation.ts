import type { ErrorCode } from "../core/error-codes.ts";

/** The part of a GraphQL operation that is counted. `OperationContext` has it. */
export interface ObservedOperation {
  readonly operationName: string | null;
  readonly operationType: "query" | "mutation" | "subscription" | null;
  readonly cost: number | null;
  readonly durationSeconds: number;
  readonly isRefused: boolean;
}

interface ObservedError {
  readonly code: string;
  readonly correlationId?: string;
  readonly count?: unknown;
}

/** The part of its result that is counted. `OperationResult` has it. */
export interface ObservedResult {
  readonly errors: readonly { readonly extensions: ObservedError }[];
  readonly ok: boolean;
}

const MORE: ErrorCode = "TOO_MANY_ERRORS";

/** The number of errors that an entry stands for: the last one of a long list only counts the others. */
export function weightOf({ code, count }: ObservedError): number {
  return code === MORE ? Number(count) : 1;
}

/** The number of errors, including those that the response only counts. */
export function countErrors(errors: ObservedResult["errors"]): number {
  return errors.reduce((sum, { extensions }) => sum + weightOf(extensions), 0);
}

/** The part of an SQL statement that is counted. `SentStatement` has it. */
export interface ObservedStatement {
  /** Without the values of its parameters. */
  readonly sql: string;
  readonly durationSeconds: number;
}
