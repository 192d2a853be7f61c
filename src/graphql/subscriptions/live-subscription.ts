import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { whenListening } from "../../http/context/listening.ts";
import { logFailure } from "../../http/context/render-problem.ts";
import type { Admitted, FindingsSoFar } from "../execute/admit.ts";
import { GraphRefusal } from "../execute/graph-refusal.ts";
import { isRefused, type OperationResponse, responseToError } from "../execute/operation-response.ts";
import type { Pipeline } from "../execute/pipeline.ts";
import { type ResultStream, runSubscription } from "../execute/run-subscription.ts";
import type { Observation } from "../hooks/observation.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { openOperation } from "../operation/running-operation.ts";
import { EventResponses } from "./event-responses.ts";
import type { SharedStreams } from "./shared-streams.ts";

/** A pipeline that takes subscriptions too. */
export interface SubscriptionPipeline extends Pipeline {
  /** The subscriptions that are executed once for all who ask the same. */
  readonly shared: SharedStreams;
}

/** Where the events of a subscription go: one end of a socket or of a stream over HTTP. */
export interface EventSink {
  /** Takes one event, as JSON. A promise while the client has too much unread: until then nothing more is made for it. */
  next(text: string): MaybePromise<void>;
  /** It failed: the answer that says why, as JSON. Nothing follows. */
  error(text: string): void;
  /** It is over. Nothing follows. */
  complete(): void;
}

/** A subscription that may be listened to. */
export interface LiveSubscription {
  readonly kind: "stream";
  /** Sends its events from now on. */
  start(sink: EventSink): void;
  /** Ends it, started or not: the client has left. Never rejects. */
  leave(): Promise<void>;
  /** Resolves when it has subscribed to the bus, and that holds. Not there for an answer. */
  whenListening?(): Promise<void>;
  /**
   * Asks the gate of its root field again, in the operation that it is given, and ends it with the denial. Never rejects.
   * Not there for what has no gate or no user: one that is shared, an answer.
   */
  recheck?(now: GraphContext): Promise<void>;
}

/** Opens a subscription that may run; an answer says why it has no events. */
export async function openSubscription(
  pipeline: SubscriptionPipeline,
  ctx: BaseContext,
  admitted: Admitted,
  observation: Observation,
  findings: FindingsSoFar,
): Promise<OperationResponse | LiveSubscription> {
  const { operation, document } = admitted.prepared;
  if (isShared(pipeline.schema, operation, document))
    return pipeline.shared.join(pipeline, ctx, admitted, observation, findings);
  const source = await runSubscription(ctx, { ...admitted.execution, timeoutMs: pipeline.timeoutMs });
  if (!isResultStream(source)) return noEvents(source, ctx, pipeline.isDebug, findings);
  const responses = new EventResponses(source, ctx, pipeline.isDebug, findings);
  return new OwnSubscription(ctx, source, pipeline.hooks.isEmpty ? responses : observation.follow(responses, findings));
}

/** Whether the author said that the events of this subscription do not depend on the caller. */
function isShared(schema: GraphQLSchema, operation: OperationDefinitionNode, document: DocumentNode): boolean {
  const fields = schema.getSubscriptionType()?.getFields() ?? {};
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return rootFields(operation.selectionSet, fragments).some((name) => fields[name]?.extensions["shared"] === true);
}

/** The names of the fields, also those in fragments. Each fragment is read once: it leaves the map. */
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

/** The resolver of the subscription gave errors in the place of events. */
export function noEvents(
  { errors = [] }: ExecutionResult,
  ctx: BaseContext,
  isDebug: boolean,
  findings: FindingsSoFar,
): OperationResponse {
  return responseToError(new GraphRefusal(200, errors), ctx, isDebug, findings);
}

/** A subscription that is executed for one client, at its pace. */
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

/** The answer to a query, for a client that takes a stream alone: one event. */
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
 * Asks the gates of what runs on a connection again, and ends what they refuse now. All of them in one operation of its own: a
 * gate of the user is asked once, what loaders load is loaded together, and nothing is kept from the last time.
 */
export async function recheck(ctx: BaseContext, running: readonly LiveSubscription[]): Promise<void> {
  const operation = openOperation(ctx);
  await operation.enter(() => Promise.all(running.map(async (live) => live.recheck?.(operation.contextValue))));
  await operation.close("success");
}
