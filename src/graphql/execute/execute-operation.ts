import { type ExecutionResult, execute } from "graphql";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { openBatchesOf } from "../operation/open-batches.ts";
import { executeSerially } from "./execute-serially.ts";
import { type Execution, executionArgs } from "./execution.ts";
import { type ObjectCounter, startCounting } from "./object-counter.ts";
import { objectLimitError } from "./plan/object-limit-error.ts";
import type { PlanInput } from "./plan/plan.ts";
import type { MayGoOn } from "./plan/run.ts";

/** Executes an operation: by its plan, or by graphql where there is none. Both ask `mayGoOn` between two root fields. */
export function executeOperation(
  execution: Execution,
  rootValue: unknown,
  contextValue: GraphContext,
  mayGoOn: MayGoOn,
): MaybePromise<ExecutionResult> {
  const { variables = {}, mostObjects = null } = execution;
  const most = mostObjects ?? Number.POSITIVE_INFINITY;
  const { coerced = null } = execution;
  const holdBatches = (): (() => void) => openBatchesOf(contextValue.connection).hold();
  const input: PlanInput = { rootValue, contextValue, variables, coerced, mostObjects: most, mayGoOn, holdBatches };
  return (
    execution.plan?.()?.execute(input) ?? executeByGraphql(execution, rootValue, contextValue, mostObjects, mayGoOn)
  );
}

function executeByGraphql(
  execution: Execution,
  rootValue: unknown,
  contextValue: GraphContext,
  mostObjects: number | null,
  mayGoOn: MayGoOn,
): MaybePromise<ExecutionResult> {
  const args = { ...executionArgs(execution), rootValue, contextValue };
  if (mostObjects === null) return executeSerially(execution, mayGoOn, (document) => execute({ ...args, document }));
  const { counter, fieldResolver } = startCounting(execution.schema, contextValue, mostObjects);
  const limited = (result: ExecutionResult): ExecutionResult => withinLimit(result, counter, mostObjects);
  const executing = executeSerially(execution, mayGoOn, (document) => execute({ ...args, document, fieldResolver }));
  return andThen(executing, limited);
}

function withinLimit(result: ExecutionResult, counter: ObjectCounter, most: number): ExecutionResult {
  return counter.isExceeded ? { data: null, errors: [objectLimitError(most)] } : result;
}
