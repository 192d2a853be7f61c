import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getNamedType,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { whenListening } from "../../kernel/events/listening.ts";
import type { Admitted, FindingsSoFar } from "../admit/admitted.ts";
import type { ErrorFormat } from "../errors/error-format.ts";
import { GraphRefusal, graphRefusal } from "../errors/graph-refusal.ts";
import type { Observation } from "../hooks/observation.ts";
import type { OperationHooks } from "../hooks/operation-hooks.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { withoutPositions } from "../operation/positions.ts";
import { openOperation } from "../operation/running-operation.ts";
import { EventResponses } from "../respond/event-responses.ts";
import { isRefused, type OperationResponse, responseToError } from "../respond/operation-response.ts";
import { type ResultStream, runSubscription } from "../run/run-subscription.ts";
import { isGatedType } from "../schema/is-gated-type.ts";
import { rootNodes } from "../selection/root-nodes.ts";

/** The parts of an endpoint that run its subscriptions. */
export interface Streaming {
  readonly schema: GraphQLSchema;
  readonly hooks: OperationHooks;
  readonly errorFormat: ErrorFormat;
  /** The time limit for an operation on a socket and for an event; over HTTP the route has one. 0 disables it. */
  readonly timeoutMs: number;
  /** The subscriptions that run once for all clients that request the same. */
  readonly shared: SharedSubscriptions;
}

/** Joins subscriptions to the ones that run already. */
interface SharedSubscriptions {
  join(
    streaming: Streaming,
    ctx: BaseContext,
    admitted: Admitted,
    observation: Observation,
    findings: FindingsSoFar,
  ): Promise<OperationResponse | LiveSubscription>;
}

/** Receives the events of a subscription, for a socket or a stream over HTTP. */
export interface EventSink {
  /** Sends one event, as JSON. Returns a promise if the client has too much unread data; the next event waits for it. */
  next(text: string, position?: string): MaybePromise<void>;
  /** Sends the position up to which there were no events, for a client that resumes. */
  position(position: string): void;
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
  /**
   * Sends the position of a quiet subscription, if it has changed: one that gets older than the kept events would be refused,
   * although nothing was missed. Absent for a shared subscription and for a single response.
   */
  keepYoung?(): void;
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
  streaming: Streaming,
  ctx: BaseContext,
  admitted: Admitted,
  observation: Observation,
  findings: FindingsSoFar,
): Promise<OperationResponse | LiveSubscription> {
  const { operation, document } = admitted.prepared;
  if (isShared(streaming.schema, operation, document)) {
    checkShareable(streaming.schema, document);
    if (admitted.position !== undefined) throw withoutPositions();
    return streaming.shared.join(streaming, ctx, admitted, observation, findings);
  }
  const source = await runSubscription(ctx, { ...admitted.execution, timeoutMs: streaming.timeoutMs });
  if (!isResultStream(source)) return noEvents(source, ctx, streaming.errorFormat, findings);
  const responses = new EventResponses(source, ctx, streaming.errorFormat, findings);
  const events = streaming.hooks.isEmpty ? responses : observation.follow(responses, findings);
  return new OwnSubscription(ctx, source, events, (error) =>
    responseToError(error, ctx, streaming.errorFormat, findings),
  );
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
  return rootNodes(document, operation)
    .values()
    .some(({ name }) => fields[name.value]?.extensions["shared"] === true);
}

export function isResultStream(source: ResultStream | ExecutionResult): source is ResultStream {
  return Symbol.asyncIterator in source;
}

/** The response for a subscription whose resolver returned errors instead of events. */
export function noEvents(
  { errors = [] }: ExecutionResult,
  ctx: BaseContext,
  errorFormat: ErrorFormat,
  findings: FindingsSoFar,
): OperationResponse {
  return responseToError(new GraphRefusal(200, errors), ctx, errorFormat, findings);
}

/** A subscription that runs for one client, at the pace of that client. */
class OwnSubscription implements LiveSubscription {
  readonly kind = "stream" as const;
  readonly #ctx: BaseContext;
  readonly #source: ResultStream;
  readonly #events: AsyncGenerator<OperationResponse, void, void>;
  readonly #failure: (error: unknown) => OperationResponse;
  #sink: EventSink | null = null;
  /** The position that was sent last, except with an event. */
  #position: string | null = null;
  #isOver = false;

  constructor(
    ctx: BaseContext,
    source: ResultStream,
    events: AsyncGenerator<OperationResponse, void, void>,
    failure: (error: unknown) => OperationResponse,
  ) {
    this.#ctx = ctx;
    this.#source = source;
    this.#events = events;
    this.#failure = failure;
  }

  start(sink: EventSink): void {
    this.#sink = sink;
    this.#sendPosition(this.#source.followed?.position);
    inBackground(this.#pump(sink));
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

  async whenListening(): Promise<void> {
    // One that can be resumed has its place among the events before it starts.
    if (this.#source.followed === null) await whenListening(this.#ctx);
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

  keepYoung(): void {
    if (!this.#isOver) this.#sendPosition(this.#source.followed?.idlePosition);
  }

  #sendPosition(position: string | null | undefined): void {
    if (typeof position !== "string" || position === this.#position) return;
    this.#position = position;
    this.#sink?.position(position);
  }

  /** Never rejects: an error that nothing else has turned into a response ends the subscription. */
  async #pump(sink: EventSink): Promise<void> {
    try {
      await this.#send(sink);
    } catch (error) {
      this.#isOver = true;
      sink.error(this.#failure(error).text);
    }
  }

  async #send(sink: EventSink): Promise<void> {
    for (;;) {
      const event = await this.#events.next();
      if (this.#isOver) return;
      if (event.done === true || isRefused(event.value)) this.#isOver = true;
      if (event.done === true) return sink.complete();
      if (isRefused(event.value)) return sink.error(event.value.text);
      const pause = sink.next(event.value.text, event.value.position);
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
      inBackground(sink.next(response.text));
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
