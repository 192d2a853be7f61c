import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLSchema } from "graphql";
import type { FieldTrace } from "../hooks/field-trace.ts";

/** One operation as it was asked for: parsed, validated, within the limits. */
export interface Execution {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string | null;
  readonly cost?: number | null;
  /** How long it may take, and each of its events, where nothing around it says so; 0 is for ever. */
  readonly timeoutMs?: number;
  /** Times its fields. */
  readonly trace?: FieldTrace | null;
}

/** What graphql's functions take in common. */
export type CommonArgs = Pick<ExecutionArgs, "schema" | "document" | "variableValues" | "operationName">;

/** The operation as graphql takes it. */
export function executionArgs({ schema, document, variables, operationName }: Execution): CommonArgs {
  return { schema, document, variableValues: variables ?? {}, operationName: operationName ?? null };
}

/**
 * Whether what was done stands. It does not when a root field failed: then the answer says null in its place. An error
 * further down leaves what was done and told as it is: a book that was saved stays, though one of its fields was refused.
 */
export function outcomeOf({ data, errors }: ExecutionResult): "success" | "failure" {
  if (errors === undefined || errors.length === 0) return "success";
  if (data === null || data === undefined) return "failure";
  const isLost = errors.some(
    ({ path }) => path === undefined || (data as Record<string, unknown>)[String(path[0])] === null,
  );
  return isLost ? "failure" : "success";
}
