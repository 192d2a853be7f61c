import { type ExecutionResult, execute, GraphQLError } from "graphql";
import { isPromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { OperationOver } from "../operation/operation-over.ts";
import { openOperation, type RunningOperation } from "../operation/running-operation.ts";
import type { Arrival } from "./admit.ts";
import { type Execution, executionArgs, outcomeOf } from "./execution.ts";

/**
 * Runs a query or a mutation, from opening its operation to closing it. The result is there when the dependencies are
 * closed: what they could not finish, such as a transaction, is an error and takes the data away.
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
  // Nobody reads the answer any more: one line in the log says so, not one for each field that was left out.
  if (operation.isOver) throw new OperationOver();
  return result;
}

/** Executes in an operation that was opened for it, and closes it. `rootValue` is the event of a subscription. */
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
    const closing = operation.close(contextValue.isOver ? "failure" : outcomeOf(result));
    const failures = closing === undefined ? [] : await closing;
    if (failures.length === 0) return result;
    return { ...result, data: null, errors: [...(result.errors ?? []), ...failures.map(closingError)] };
  } catch (error) {
    const closing = operation.close("failure");
    // Whoever has taken too long already is not waited for.
    if (!(error instanceof OperationOver)) await closing;
    throw error;
  } finally {
    unwatch?.();
  }
}

/** Rejects with `OperationOver` when the time is over; the operation hears of it by its signal. */
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
