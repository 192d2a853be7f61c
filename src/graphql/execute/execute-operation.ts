import { type ExecutionResult, execute } from "graphql";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { type Execution, executionArgs } from "./execution.ts";
import { type ObjectCounter, startCounting } from "./object-counter.ts";
import { objectLimitError } from "./object-limit-error.ts";

/** Executes an operation: by its plan, or by graphql where there is none. */
export function executeOperation(
  execution: Execution,
  rootValue: unknown,
  contextValue: GraphContext,
): MaybePromise<ExecutionResult> {
  const { variables = {}, mostObjects = null } = execution;
  const most = mostObjects ?? Number.POSITIVE_INFINITY;
  const { coerced = null } = execution;
  const planned = execution.plan?.()?.execute({ rootValue, contextValue, variables, coerced, mostObjects: most });
  return planned ?? executeByGraphql(execution, rootValue, contextValue, mostObjects);
}

function executeByGraphql(
  execution: Execution,
  rootValue: unknown,
  contextValue: GraphContext,
  mostObjects: number | null,
): MaybePromise<ExecutionResult> {
  const args = { ...executionArgs(execution), rootValue, contextValue };
  if (mostObjects === null) return execute(args);
  const { counter, fieldResolver } = startCounting(execution.schema, contextValue, mostObjects);
  const limited = (result: ExecutionResult): ExecutionResult => withinLimit(result, counter, mostObjects);
  const executing = execute({ ...args, fieldResolver });
  return isPromise(executing) ? executing.then(limited) : limited(executing);
}

function withinLimit(result: ExecutionResult, counter: ObjectCounter, most: number): ExecutionResult {
  return counter.isExceeded ? { data: null, errors: [objectLimitError(most)] } : result;
}
