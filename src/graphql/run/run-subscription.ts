import type { ExecutionResult } from "graphql";
import * as graphql from "graphql";
import { isInstance } from "../../core/describe-error.ts";
import { eventTurns } from "../../core/work/event-loop-turns.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { endMemos, outlivesQuestions } from "../../kernel/context/memo-of.ts";
import { type Execution, executionArgs } from "../execute/execution.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { OperationOver } from "../operation/operation-over.ts";
import { type Followed, withoutPositions } from "../operation/positions.ts";
import { openOperation, type RunningOperation } from "../operation/running-operation.ts";
import { inTime, runIn } from "./run-operation.ts";

/** The results of a subscription, one per event, until it ends. */
export interface ResultStream extends AsyncGenerator<ExecutionResult, void, void> {
  /** Checks the gate of its root field again, in the given operation. Returns the denial, or `null` while access is allowed. */
  denialSince(now: GraphContext): Promise<Error | null>;
  /** The positions of its events; `null` if clients can't resume it. */
  readonly followed: Followed | null;
}

/**
 * Runs a subscription. Returns a stream of results, or a single result with the errors that prevented it. The dependencies of
 * the subscription's resolver stay open until the stream ends. Each event is an operation with its own dependencies.
 */
export async function runSubscription(
  connection: BaseContext,
  execution: Execution,
): Promise<ResultStream | ExecutionResult> {
  const { operationName = null, cost = null, trace = null } = execution;
  const operation = openOperation(connection, { operationName, cost, trace, followsEvents: true });
  outlivesQuestions(operation.contextValue.connection);
  operation.contextValue.resumeAfter = execution.resumeAfter ?? null;
  try {
    const source = await sourceStream(execution, operation.contextValue);
    throwForgotten(operation);
    if (execution.resumeAfter !== undefined && operation.contextValue.followed === null && isStream(source)) {
      await source[Symbol.asyncIterator]().return?.();
      throw withoutPositions();
    }
    if (isStream(source)) return new EventResults(connection, execution, operation, source[Symbol.asyncIterator]());
    await operation.close("failure");
    return source;
  } catch (error) {
    await operation.close("failure");
    throw error;
  }
}

/** Executes each event on demand. Not a generator, because one that never started would return without closing anything. */
class EventResults implements ResultStream {
  readonly #connection: BaseContext;
  readonly #execution: Execution;
  readonly #operation: RunningOperation;
  readonly #events: AsyncIterator<unknown>;
  /** The operation of the event that is being executed. */
  #running: RunningOperation | null = null;
  #isLeft = false;

  constructor(
    connection: BaseContext,
    execution: Execution,
    operation: RunningOperation,
    events: AsyncIterator<unknown>,
  ) {
    this.#connection = connection;
    this.#execution = execution;
    this.#operation = operation;
    this.#events = events;
  }

  get followed(): Followed | null {
    return this.#operation.contextValue.followed;
  }

  async next(): Promise<IteratorResult<ExecutionResult, void>> {
    const { operationName = null, cost = null, trace = null } = this.#execution;
    try {
      for (;;) {
        this.#endMemos();
        const event = await this.#events.next();
        throwForgotten(this.#operation);
        if (event.done === true) return await this.#end("success");
        const turn = eventTurns.take();
        if (turn !== undefined) await turn;
        if (this.#isLeft) return OVER;
        this.#running = openOperation(this.#connection, { operationName, cost, trace, followsEvents: true });
        const mapped = await this.#mapped(this.#running, event.value);
        if (this.#isLeft) return OVER;
        if (mapped === null || (await this.#isDropped(this.#running, mapped.value))) continue;
        const value = await runIn(this.#running, this.#execution, mapped.value);
        return this.#isLeft ? OVER : { done: false, value };
      }
    } catch (error) {
      // The failure may lie outside the generator. It is ended too, and its own errors would hide the first one.
      await this.#leave("failure").catch(() => {});
      throw error;
    }
  }

  /** Ends the subscription after its client has disconnected: first its subscriptions to the bus, then its generator. */
  return(): Promise<IteratorResult<ExecutionResult, void>> {
    return this.#leave("success");
  }

  async throw(error: unknown): Promise<IteratorResult<ExecutionResult, void>> {
    await this.#leave("failure");
    throw error;
  }

  async denialSince(now: GraphContext): Promise<Error | null> {
    this.#endMemos();
    return this.#operation.contextValue.denialSince?.(now) ?? null;
  }

  /** Values that the generator has loaded for one event are not valid for the next one, nor after a recheck. */
  #endMemos(): void {
    endMemos(this.#operation.contextValue.connection);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** The value for an event of a topic; `null` for one that the resolver skips. Its operation is then closed. */
  async #mapped(running: RunningOperation, event: unknown): Promise<{ readonly value: unknown } | null> {
    const { mapEvent } = this.#operation.contextValue;
    if (mapEvent === null) return { value: event };
    try {
      const value = await inTime(
        running.enter(async () => mapEvent(event, running.contextValue)),
        running,
        this.#execution.timeoutMs ?? 0,
      );
      throwForgotten(running);
      if (value !== undefined) return { value };
    } catch (error) {
      const closing = running.close("failure");
      // After a timeout nothing is awaited: a dependency may be what hangs.
      if (!isInstance(error, OperationOver)) await closing;
      throw error;
    }
    await running.close("success");
    return null;
  }

  /** Whether the gate of the event's type refuses it. Its operation is then closed without having run. */
  async #isDropped(running: RunningOperation, event: unknown): Promise<boolean> {
    const { isDropped } = this.#operation.contextValue;
    if (isDropped === null || !(await running.enter(() => isDropped(event, running.contextValue)))) return false;
    await running.close("success");
    return true;
  }

  async #leave(outcome: "success" | "failure"): Promise<IteratorResult<ExecutionResult, void>> {
    this.#isLeft = true;
    this.#running?.abort();
    this.#operation.abort();
    try {
      await this.#events.return?.();
    } catch (error) {
      await this.#end("failure");
      throw error;
    }
    return this.#end(outcome);
  }

  async #end(outcome: "success" | "failure"): Promise<IteratorResult<ExecutionResult, void>> {
    await this.#operation.close(outcome);
    return OVER;
  }
}

/** Throws if the resolver or the generator of a subscription did not wait for a check. */
function throwForgotten({ contextValue }: RunningOperation): void {
  const { forgottenCheck } = contextValue.connection;
  if (forgottenCheck !== null) throw forgottenCheck;
}

const OVER = { done: true, value: undefined } as const;

type AnyGraphql = Record<string, (args: unknown) => unknown>;

/** graphql 17 needs a separate step to validate the arguments; 16 validates them itself. */
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
