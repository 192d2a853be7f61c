import type { ErrorCode } from "../core/error-codes.ts";

/** The part of a GraphQL operation that is counted. `OperationContext` has it. */
export interface ObservedOperation {
  readonly operationName: string | null;
  readonly operationType: "query" | "mutation" | "subscription" | null;
  readonly cost: number | null;
  readonly durationSeconds: number;
  readonly isRefused: boolean;
}

/** The part of its result that is counted. `OperationResult` has it. */
export interface ObservedResult {
  readonly errors: readonly { readonly extensions: { readonly code: string; readonly count?: unknown } }[];
  readonly ok: boolean;
}

const MORE: ErrorCode = "TOO_MANY_ERRORS";

/** The number of errors, including those that the response only counts. */
export function countErrors(errors: ObservedResult["errors"]): number {
  return errors.reduce((sum, { extensions: { code, count } }) => sum + (code === MORE ? Number(count) : 1), 0);
}

/** The part of an SQL statement that is counted. `SentStatement` has it. */
export interface ObservedStatement {
  /** Without the values of its parameters. */
  readonly sql: string;
  readonly durationSeconds: number;
}
