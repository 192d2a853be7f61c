import type { ExecutionResult } from "graphql";
import * as graphql from "graphql";
import type { BaseContext } from "../../http/context.ts";
import type { GraphContext } from "../graph-context.ts";
import { type Operation, openOperation } from "../operation.ts";
import { type Execution, executionArgs } from "./execution.ts";
import { runIn } from "./run-operation.ts";

/** The results of a subscription, one per event, until it is left. */
export type ResultStream = AsyncGenerator<ExecutionResult, void, void>;

/**
 * Runs a subscription: a stream of results, or the one result that says why there is none. What its own resolver declares
 * is open until the stream ends; each event is an operation with values of its own.
 */
export async function runSubscription(
  connection: BaseContext,
  execution: Execution,
): Promise<ResultStream | ExecutionResult> {
  const { operationName = null, cost = null } = execution;
  const operation = openOperation(connection, { operationName, cost });
  let source: AsyncIterable<unknown> | ExecutionResult;
  try {
    source = await sourceStream(execution, operation.contextValue);
  } catch (error) {
    await operation.close("failure");
    throw error;
  }
  if (isStream(source)) return resultStream(connection, execution, operation, source);
  await operation.close("failure");
  return source;
}

function resultStream(
  connection: BaseContext,
  execution: Execution,
  operation: Operation,
  source: AsyncIterable<unknown>,
): ResultStream {
  const { operationName = null, cost = null } = execution;
  const events = source[Symbol.asyncIterator]();
  const stream = (async function* (): ResultStream {
    let outcome: "success" | "failure" = "failure";
    try {
      for (let event = await events.next(); event.done !== true; event = await events.next())
        yield await runIn(openOperation(connection, { operationName, cost }), execution, event.value);
      outcome = "success";
    } finally {
      await close(outcome);
    }
  })();

  let left = false;
  async function close(outcome: "success" | "failure"): Promise<void> {
    if (outcome === "failure") await events.return?.();
    await operation.close(left ? "success" : outcome);
  }
  // A generator that waits takes no `return`: what it waits for has to end first.
  const leave = stream.return.bind(stream);
  stream.return = (value) => {
    left = true;
    operation.abort();
    return leave(value);
  };
  return stream;
}

type AnyGraphql = Record<string, (args: unknown) => unknown>;

/** graphql 17 wants the arguments validated first; 16 does both in one. */
function sourceStream(
  execution: Execution,
  contextValue: GraphContext,
): Promise<AsyncIterable<unknown> | ExecutionResult> {
  const args = { ...executionArgs(execution), contextValue };
  const { validateSubscriptionArgs, createSourceEventStream } = graphql as unknown as AnyGraphql;
  const validated = validateSubscriptionArgs === undefined ? args : validateSubscriptionArgs(args);
  if (Array.isArray(validated)) return Promise.resolve({ errors: validated });
  return Promise.resolve(createSourceEventStream?.(validated)) as Promise<AsyncIterable<unknown> | ExecutionResult>;
}

function isStream(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}
