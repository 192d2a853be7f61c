import { type ExecutionResult, execute, GraphQLError } from "graphql";
import type { BaseContext } from "../../http/context.ts";
import { type Operation, type OperationOptions, openOperation } from "../operation.ts";
import { type Execution, executionArgs, outcomeOf } from "./execution.ts";

/**
 * Runs a query or a mutation, from opening its operation to closing it. The result is there when the dependencies are
 * closed: what they could not finish, such as a transaction, is an error and takes the data away.
 */
export function runOperation(
  connection: BaseContext,
  execution: Execution,
  options: Pick<OperationOptions, "isAlone"> = {},
): Promise<ExecutionResult> {
  const { operationName = null, cost = null } = execution;
  return runIn(openOperation(connection, { ...options, operationName, cost }), execution, undefined);
}

/** Executes in an operation that was opened for it, and closes it. `rootValue` is the event of a subscription. */
export async function runIn(operation: Operation, execution: Execution, rootValue: unknown): Promise<ExecutionResult> {
  const { contextValue } = operation;
  const { signal } = contextValue.connection;
  const giveUp = (): void => {
    contextValue.isOver = true;
  };
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp);
  try {
    const result = await execute({ ...executionArgs(execution), rootValue, contextValue });
    const failures = (await operation.close(contextValue.isOver ? "failure" : outcomeOf(result))) ?? [];
    if (failures.length === 0) return result;
    return { ...result, data: null, errors: [...(result.errors ?? []), ...failures.map(closingError)] };
  } catch (error) {
    await operation.close("failure");
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function closingError(cause: unknown): GraphQLError {
  return new GraphQLError("What the operation did could not be finished", {
    originalError: cause instanceof Error ? cause : new Error(String(cause)),
  });
}
