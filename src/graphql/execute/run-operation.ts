import { type ExecutionResult, execute, GraphQLError } from "graphql";
import { isPromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { OperationOver } from "../operation/operation-over.ts";
import { openOperation, type RunningOperation } from "../operation/running-operation.ts";
import type { Arrival } from "./admit.ts";
import { type Execution, executionArgs, outcomeOf } from "./execution.ts";
import { withoutUndoneWork } from "./without-undone-work.ts";

/**
 * Runs a query or a mutation. The promise resolves after the dependencies are closed: if one fails to close, such as a
 * transaction that does not commit, the result has that error and no data.
 */
export async function runOperation(
  connection: BaseContext,
  execution: Execution,
  { isAlone, onStart }: Pick<Arrival, "isAlone" | "onStart"> = { isAlone: false },
): Promise<ExecutionResult> {
  const { operationName = null, cost = null, trace = null } = execution;
  const operation = openOperation(connection, { isAlone, operationName, cost, trace });
  onStart?.(() => operation.abort());
  const result = await runIn(operation, execution, undefined);
  // The client will not read the response, so the log gets one line instead of one per unresolved field.
  if (operation.isOver) throw new OperationOver();
  return result;
}

/** Executes inside an open operation, then closes it. `rootValue` is the event of a subscription. */
export async function runIn(
  operation: RunningOperation,
  execution: Execution,
  rootValue: unknown,
): Promise<ExecutionResult> {
  const { contextValue } = operation;
  contextValue.isOver = operation.isOver;
  let unwatch: (() => void) | null = null;
  try {
    const executing = operation.enter(() => execute({ ...executionArgs(execution), rootValue, contextValue }));
    let result: ExecutionResult;
    if (isPromise(executing)) {
      unwatch = operation.watch(() => {
        contextValue.isOver = true;
      });
      result = await inTime(executing, operation, execution.timeoutMs ?? 0);
    } else result = executing;
    const outcome = contextValue.isOver ? "failure" : outcomeOf(result, contextValue.refused);
    const closing = operation.close(outcome);
    const failures = closing === undefined ? [] : await closing;
    if (failures.length === 0)
      return outcome === "failure" && operation.canRollBack ? withoutUndoneWork(result, execution) : result;
    return { ...result, data: null, errors: [...(result.errors ?? []), ...failures.map(closingError)] };
  } catch (error) {
    const closing = operation.close("failure");
    // After a timeout nothing is awaited: a dependency may be what hangs.
    if (!(error instanceof OperationOver)) await closing;
    throw error;
  } finally {
    unwatch?.();
  }
}

/** Rejects with `OperationOver` after the time limit, and aborts the signal of the operation. */
async function inTime<T>(work: Promise<T>, operation: RunningOperation, timeoutMs: number): Promise<T> {
  if (timeoutMs === 0) return work;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new OperationOver());
    operation.abort();
  }, timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function closingError(cause: unknown): GraphQLError {
  return new GraphQLError("The operation could not be completed", {
    originalError: cause instanceof Error ? cause : new Error(String(cause)),
  });
}
