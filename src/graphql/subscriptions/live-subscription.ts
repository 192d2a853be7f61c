import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { whenListening } from "../../http/context/listening.ts";
import { logFailure } from "../../http/context/render-problem.ts";
import type { Admitted, FindingsSoFar } from "../execute/admit.ts";
import { GraphRefusal, graphRefusal } from "../execute/graph-refusal.ts";
import { isRefused, type OperationResponse, responseToError } from "../execute/operation-response.ts";
import type { Pipeline } from "../execute/pipeline.ts";
import { type ResultStream, runSubscription } from "../execute/run-subscription.ts";
import type { Observation } from "../hooks/observation.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { openOperation } from "../operation/running-operation.ts";
import { isGatedType } from "../schema/is-gated-type.ts";
import { EventResponses } from "./event-responses.ts";
import type { SharedStreams } from "./shared-streams.ts";

/** A pipeline that also runs subscriptions. */
export interface SubscriptionPipeline extends Pipeline {
  /** The subscriptions that run once for all clients that request the same. */
  readonly shared: SharedStreams;
}

/** Receives the events of a subscription, for a socket or a stream over HTTP. */
export interface EventSink {
  /** Sends one event, as JSON. Returns a promise if the client has too much unread data; the next event waits for it. */
  next(text: string): MaybePromise<void>;
  /** Sends the response with the errors of a failed subscription, as JSON. It is the last call. */
  error(text: string): void;
  /** Ends a subscription that has no more events. It is the last call. */
  complete(): void;
}

/** An open subscription. */
export interface LiveSubscription {
  readonly kind: "stream";
  /** Starts to send its events. */
  start(sink: EventSink): void;
  /** Ends it after the client has left, started or not. Never rejects. */
  leave(): Promise<void>;
  /** Resolves when its subscription to the bus is established. Absent for a single response. */
  whenListening?(): Promise<void>;
  /**
   * Checks the gate of its root field again, in the given operation, and ends the subscription if access is denied. Never
   * rejects. Absent for a shared subscription and for a single response.
   */
  recheck?(now: GraphContext): Promise<void>;
}

/** Opens an admitted subscription. Returns a response with errors if it has no events. */
export async function openSubscription(
  pipeline: SubscriptionPipeline,
  ctx: BaseContext,
  admitted: Admitted,
  observation: Observation,
  findings: FindingsSoFar,
): Promise<OperationResponse | LiveSubscription> {
  const { operation, document } = admitted.prepared;
  if (isShared(pipeline.schema, operation, document)) {
    checkShareable(pipeline.schema, document);
    return pipeline.shared.join(pipeline, ctx, admitted, observation, findings);
  }
  const source = await runSubscription(ctx, { ...admitted.execution, timeoutMs: pipeline.timeoutMs });
  if (!isResultStream(source)) return noEvents(source, ctx, pipeline.isDebug, findings);
  const responses = new EventResponses(source, ctx, pipeline.isDebug, findings);
  return new OwnSubscription(ctx, source, pipeline.hooks.isEmpty ? responses : observation.follow(responses, findings));
}

/** Rejects a shared subscription to objects whose type has a gate, which decides for each caller. */
function checkShareable(schema: GraphQLSchema, document: DocumentNode): void {
  const types = new TypeInfo(schema);
  const check = (): void => {
    const type = getNamedType(types.getType());
    if (type !== undefined && isGatedType(schema, type))
      throw graphRefusal(
        "GRAPHQL_VALIDATION_FAILED",
        `A shared subscription cannot select ${type.name}, whose access depends on the caller`,
      );
  };
  visit(document, visitWithTypeInfo(types, { Field: check, InlineFragment: check, FragmentDefinition: check }));
}

/** Whether the subscription is declared with `shared: true`: its events do not depend on the caller. */
function isShared(schema: GraphQLSchema, operation: OperationDefinitionNode, document: DocumentNode): boolean {
  const fields = schema.getSubscriptionType()?.getFields() ?? {};
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return rootFields(operation.selectionSet, fragments).some((name) => fields[name]?.extensions["shared"] === true);
}

/** The names of the root fields, including those in fragments. Each fragment is removed from the map and so read once. */
function rootFields(
  { selections }: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, fragments);
    const fragment = fragments.get(selection.name.value);
    fragments.delete(selection.name.value);
    return fragment === undefined ? [] : rootFields(fragment.selectionSet, fragments);
  });
}

export function isResultStream(source: ResultStream | ExecutionResult): source is ResultStream {
  return Symbol.asyncIterator in source;
}

/** The response for a subscription whose resolver returned errors instead of events. */
export function noEvents(
  { errors = [] }: ExecutionResult,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationResponse {
  return responseToError(new GraphRefusal(200, errors), ctx, isDebug, findings);
}

/** A subscription that runs for one client, at the pace of that client. */
class OwnSubscription implements LiveSubscription {
  readonly kind = "stream" as const;
  readonly #ctx: BaseContext;
  readonly #source: ResultStream;
  readonly #events: AsyncGenerator<OperationResponse, void, void>;
  #sink: EventSink | null = null;
  #isOver = false;

  constructor(ctx: BaseContext, source: ResultStream, events: AsyncGenerator<OperationResponse, void, void>) {
    this.#ctx = ctx;
    this.#source = source;
    this.#events = events;
  }

  start(sink: EventSink): void {
    this.#sink = sink;
    void this.#pump(sink);
  }

  async recheck(now: GraphContext): Promise<void> {
    try {
      const denial = await this.#source.denialSince(now);
      if (denial === null || this.#isOver) return;
      this.#isOver = true;
      const last = await this.#events.throw(denial);
      if (last.done !== true) this.#sink?.error(last.value.text);
    } catch (error) {
      logFailure(this.#ctx.services, this.#ctx.exchange, error);
    }
  }

  whenListening(): Promise<void> {
    return whenListening(this.#ctx);
  }

  async leave(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#events.return();
    } catch (error) {
      logFailure(this.#ctx.services, this.#ctx.exchange, error);
    }
  }

  async #pump(sink: EventSink): Promise<void> {
    for (;;) {
      const event = await this.#events.next();
      if (this.#isOver) return;
      if (event.done === true || isRefused(event.value)) this.#isOver = true;
      if (event.done === true) return sink.complete();
      if (isRefused(event.value)) return sink.error(event.value.text);
      const pause = sink.next(event.value.text);
      if (isPromise(pause)) await pause;
    }
  }
}

/** Sends a single response as one event, for a client that accepts only a stream. */
export function onlyResponse(response: OperationResponse): LiveSubscription {
  return {
    kind: "stream",
    start(sink) {
      if (isRefused(response)) return sink.error(response.text);
      void sink.next(response.text);
      sink.complete();
    },
    async leave() {},
  };
}

/**
 * Checks the gates of all subscriptions on a connection again, and ends those that are denied now. One new operation runs all
 * checks: a gate on the user is called once, loaders load in one batch, and no earlier verdict is reused.
 */
export async function recheck(ctx: BaseContext, running: readonly LiveSubscription[]): Promise<void> {
  const operation = openOperation(ctx);
  await operation.enter(() => Promise.all(running.map(async (live) => live.recheck?.(operation.contextValue))));
  await operation.close("success");
}
