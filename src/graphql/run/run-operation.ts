import { type ExecutionResult, GraphQLError } from "graphql";
import { isInstance, toError } from "../../core/describe-error.ts";
import { andThen, isPromise, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { endMemos } from "../../kernel/context/memo-of.ts";
import type { Arrival } from "../admit/admitted.ts";
import { executeOperation } from "../execute/execute-operation.ts";
import { type Execution, outcomeOf } from "../execute/execution.ts";
import type { MayGoOn } from "../execute/plan/run.ts";
import { OperationOver } from "../operation/operation-over.ts";
import { openOperation, type RunningOperation } from "../operation/running-operation.ts";
import { rollBackMutation } from "./roll-back-mutation.ts";

/**
 * Runs a query or a mutation. The result is there after the dependencies are closed: if one fails to close, such as a
 * transaction that does not commit, the result has that error and no data.
 */
export function runOperation(
  connection: BaseContext,
  execution: Execution,
  { isAlone, onStart }: Pick<Arrival, "isAlone" | "onStart"> = { isAlone: false },
): MaybePromise<ExecutionResult> {
  const { operationName = null, cost = null, trace = null } = execution;
  const operation = openOperation(connection, { isAlone, operationName, cost, trace });
  onStart?.(() => operation.abort());
  return andThen(runIn(operation, execution, undefined), (result) => {
    // The client will not read the response, so the log gets one line instead of one per unresolved field.
    if (operation.isOver) throw new OperationOver();
    return result;
  });
}

/** Executes inside an open operation, then closes it. `rootValue` is the event of a subscription. */
export function runIn(
  operation: RunningOperation,
  execution: Execution,
  rootValue: unknown,
): MaybePromise<ExecutionResult> {
  const { contextValue } = operation;
  contextValue.isOver = operation.isOver;
  contextValue.endsAtGates = execution.endsAtGates ?? null;
  return orElse(
    () => {
      const executing = operation.enter(() =>
        executeOperation(execution, rootValue, contextValue, betweenFields(operation)),
      );
      return isPromise(executing)
        ? finishLater(operation, execution, executing)
        : finish(operation, execution, executing);
    },
    async (error) => {
      const closing = operation.close("failure");
      // After a timeout nothing is awaited: a dependency may be what hangs.
      if (!isInstance(error, OperationOver)) await closing;
      throw error;
    },
  );
}

/**
 * Decides between two root fields of a mutation, by the outcome that they would have now. After a failure, nothing runs in a
 * transaction that is going to be rolled back: it would be authorized by writes that are never committed.
 */
function betweenFields(operation: RunningOperation): MayGoOn {
  const { contextValue } = operation;
  return (soFar) => {
    // A mutation may change everything that the fields before it have read.
    endMemos(contextValue.connection);
    contextValue.noteForgottenCheck();
    if (contextValue.forgottenCheck === null && outcomeOf(soFar, contextValue.refused) === "success") return true;
    contextValue.fail();
    return !operation.canRollBack;
  };
}

async function finishLater(
  operation: RunningOperation,
  execution: Execution,
  executing: Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const unwatch = operation.watch(() => {
    operation.contextValue.isOver = true;
  });
  try {
    return await finish(operation, execution, await inTime(executing, operation, execution.timeoutMs ?? 0));
  } finally {
    unwatch();
  }
}

/** Closes the operation, and decides from the outcome what the result may say. */
function finish(
  operation: RunningOperation,
  execution: Execution,
  result: ExecutionResult,
): MaybePromise<ExecutionResult> {
  const { contextValue } = operation;
  contextValue.noteForgottenCheck();
  const { forgottenCheck } = contextValue;
  const isFailed = contextValue.isOver || forgottenCheck !== null;
  const outcome = isFailed ? "failure" : outcomeOf(result, contextValue.refused);
  if (execution.unshown !== undefined) execution.unshown.objects += contextValue.refusedObjects;
  const { beforeCommit } = execution;
  const shown =
    beforeCommit !== undefined && outcome === "success" ? beforeCommit(result, contextValue.refused) : undefined;
  const closing = isPromise(shown)
    ? Promise.resolve(shown).then(() => operation.close(outcome))
    : operation.close(outcome);
  return andThen(closing, (failed = NONE) => {
    const failures = forgottenCheck === null ? failed : [forgottenCheck, ...failed];
    if (failures.length > 0)
      return { ...result, data: null, errors: [...(result.errors ?? []), ...failures.map(closingError)] };
    return outcome === "failure" && operation.canRollBack ? rollBackMutation(result, execution) : result;
  });
}

const NONE: readonly unknown[] = [];

/** Rejects with `OperationOver` after the time limit, and aborts the signal of the operation. */
export async function inTime<T>(work: Promise<T>, operation: RunningOperation, timeoutMs: number): Promise<T> {
  if (timeoutMs === 0) return work;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new OperationOver(work));
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
    originalError: toError(cause),
  });
}
