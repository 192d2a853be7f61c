import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLResolveInfo, GraphQLSchema } from "graphql";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { MoreErrors } from "../errors/reported-errors.ts";
import type { FieldTrace } from "../operation/field-trace.ts";
import type { CoercedVariables } from "./plan/coerce-variables.ts";
import type { Plan } from "./plan/plan.ts";

/** One operation that is ready to be executed: parsed, validated and within the limits. */
export interface Execution {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The variables, coerced to their types; `null` if they are not coerced yet, or none are declared. */
  readonly coerced?: CoercedVariables | null;
  readonly operationName?: string | null;
  readonly cost?: number | null;
  /** The time limit for the operation and for each of its events, where the route has none; 0 disables it. */
  readonly timeoutMs?: number;
  /** Times its fields. */
  readonly trace?: FieldTrace | null;
  /** Returns the compiled form of the operation; `null` if graphql has to execute it. */
  readonly plan?: () => Plan | null;
  /** The maximum number of objects in the response; `null` disables the limit. */
  readonly mostObjects?: number | null;
  /** Receives the work that the response will not show. */
  readonly unshown?: UnshownWork;
  /** Receives the result before the dependencies commit. An error that it throws rolls them back. */
  readonly beforeCommit?: (result: ExecutionResult, refused: ReadonlySet<string | number>) => MaybePromise<void>;
  /** The position that a client has sent with its subscription. */
  readonly resumeAfter?: string;
  /** Only asks the gates of the root fields: called behind those of each field, it throws. */
  readonly endsAtGates?: (info: GraphQLResolveInfo) => never;
}

/** Work that was done for an operation although its response does not show it. */
export interface UnshownWork {
  /** The number of objects that were loaded, and refused by the gates of their types. */
  objects: number;
}

/** The arguments that graphql's functions have in common. */
export type CommonArgs = Pick<ExecutionArgs, "schema" | "document" | "variableValues" | "operationName">;

/** Converts an execution to graphql's arguments. */
export function executionArgs({ schema, document, variables, operationName }: Execution): CommonArgs {
  return { schema, document, variableValues: variables, operationName };
}

/**
 * Decides whether dependencies commit or roll back. An operation fails when an error removes one of its root fields, except
 * for a field that was refused before it ran. An error in a nested field does not undo work that the response reports as done:
 * a book stays saved if one of its fields is denied.
 *
 * @param refused the root fields whose resolvers did not run
 */
export function outcomeOf(
  { data, errors }: ExecutionResult,
  refused: ReadonlySet<string | number>,
): "success" | "failure" {
  if (errors === undefined || errors.length === 0) return "success";
  if (data === null || data === undefined) return "failure";
  const isLost = errors.some((error) => {
    // Those that are counted only have removed no root field.
    if (error instanceof MoreErrors) return false;
    const { path = [] } = error;
    const length = lengthToNull(data, path);
    const isRefused = path.length === 1 && refused.has(path[0] as string | number);
    return length === undefined || (length === 1 && !isRefused);
  });
  return isLost ? "failure" : "success";
}

/**
 * The length of the part of a path that leads to null. `undefined` if none does: an error that a resolver received from another
 * execution has the path of that one, so it does not say which field was lost.
 */
function lengthToNull(data: unknown, path: readonly (string | number)[]): number | undefined {
  let at = data;
  for (const [index, key] of path.entries()) {
    at = (at as Readonly<Record<string | number, unknown>>)[key];
    if (at === null) return index + 1;
    if (at === undefined) return undefined;
  }
  return undefined;
}
