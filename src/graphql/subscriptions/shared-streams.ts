import { AsyncLocalStorage } from "node:async_hooks";
import type { ExecutionResult } from "graphql";
import { eventTurns } from "../../core/turns.ts";
import type { AppServices } from "../../http/context/app-services.ts";
import { withContext } from "../../http/context/current-context.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { whenListening } from "../../http/context/listening.ts";
import { logFailure } from "../../http/context/render-problem.ts";
import type { FormattedError } from "../errors/format-error.ts";
import type { Admitted, FindingsSoFar } from "../execute/admit.ts";
import { isRefused, type OperationResponse } from "../execute/operation-response.ts";
import type { Pipeline } from "../execute/pipeline.ts";
import { type ResultStream, runSubscription } from "../execute/run-subscription.ts";
import type { Observation } from "../hooks/observation.ts";
import { keepErrors } from "../hooks/observed-stream.ts";
import { EventResponses } from "./event-responses.ts";
import { type EventSink, isResultStream, type LiveSubscription, noEvents } from "./live-subscription.ts";
import { SharedContext } from "./shared-context.ts";

/**
 * The running shared subscriptions, one for each document and its variables. Each event is executed and serialized once, and
 * sent to all members. A subscription starts with its first member and ends with its last.
 */
export class SharedStreams {
  readonly #byServices = new WeakMap<AppServices, Map<string, SharedStream>>();
  // Outside any request: the async state of the first member's middleware must not reach the other members.
  readonly #outside = AsyncLocalStorage.snapshot();

  async join(
    pipeline: Pipeline,
    ctx: BaseContext,
    admitted: Admitted,
    observation: Observation,
    findings: FindingsSoFar,
  ): Promise<OperationResponse | LiveSubscription> {
    const running = this.#byServices.get(ctx.services) ?? new Map<string, SharedStream>();
    this.#byServices.set(ctx.services, running);
    const key = keyOf(findings.operationName, admitted);
    const start = (): SharedStream =>
      new SharedStream(pipeline, ctx, admitted, findings, () => void running.delete(key));
    const stream = running.get(key) ?? this.#outside(start);
    running.set(key, stream);
    return stream.join(observation.ending(findings), ctx, pipeline.isDebug, findings);
  }
}

/** Adds the numbers that JSON writes as null, such as `1e400`, or different variables would share one stream. */
function keyOf(operationName: string | null, { execution, source }: Admitted): string {
  const changed: string[] = [];
  let at = 0;
  const variables = JSON.stringify(execution.variables, (_key, value: unknown) => {
    at++;
    if (typeof value === "number" && !Number.isFinite(value)) changed.push(`${at} ${value}`);
    return value;
  });
  return JSON.stringify([operationName, variables, changed, source]);
}

type Ended = ReturnType<Observation["ending"]>;

class SharedStream {
  readonly #ctx: SharedContext;
  /** Runs the code that all members share. */
  readonly #inside: ReturnType<typeof AsyncLocalStorage.snapshot>;
  readonly #source: Promise<ResultStream | ExecutionResult>;
  readonly #responses: Promise<EventResponses | null>;
  readonly #onOver: () => void;
  /** The members, each with its sink once it has started. */
  readonly #members = new Map<SharedMember, EventSink | null>();
  #isPumping = false;
  #isOver = false;

  constructor(
    pipeline: Pipeline,
    { services, exchange }: BaseContext,
    admitted: Admitted,
    findings: FindingsSoFar,
    onOver: () => void,
  ) {
    this.#onOver = onOver;
    this.#ctx = new SharedContext(services, exchange.target.split("?", 1)[0] ?? "");
    const execution = { ...admitted.execution, timeoutMs: pipeline.timeoutMs, trace: null };
    this.#inside = withContext(this.#ctx, () => AsyncLocalStorage.snapshot());
    this.#source = this.#inside(() => runSubscription(this.#ctx, execution));
    this.#responses = this.#source.then(
      (source) => (isResultStream(source) ? new EventResponses(source, this.#ctx, pipeline.isDebug, findings) : null),
      () => null,
    );
  }

  async join(
    onEnd: Ended,
    ctx: BaseContext,
    isDebug: boolean,
    findings: FindingsSoFar,
  ): Promise<OperationResponse | LiveSubscription> {
    const member = new SharedMember(this, onEnd);
    this.#members.set(member, null);
    try {
      const source = await this.#source;
      if (isResultStream(source)) return member;
      this.#over();
      return noEvents(source, ctx, isDebug, findings);
    } catch (error) {
      this.#over();
      throw error;
    }
  }

  start(member: SharedMember, sink: EventSink): void {
    this.#members.set(member, sink);
    if (this.#isPumping) return;
    this.#isPumping = true;
    void this.#inside(() => this.#pump());
  }

  whenListening(): Promise<void> {
    return whenListening(this.#ctx);
  }

  async leave(member: SharedMember): Promise<void> {
    this.#members.delete(member);
    if (this.#members.size > 0 || this.#isOver) return;
    this.#over();
    try {
      await (await this.#responses)?.return();
    } catch (error) {
      logFailure(this.#ctx.services, this.#ctx.exchange, error);
    }
  }

  async #pump(): Promise<void> {
    const responses = await this.#responses;
    for (;;) {
      const event = await responses?.next();
      if (this.#isOver) return;
      if (event === undefined || event.done === true) return this.#end((sink) => sink.complete());
      const { value } = event;
      if (value.body.errors !== undefined) this.#keep(value.body.errors);
      if (isRefused(value)) return this.#end((sink) => sink.error(value.text));
      await this.#send(value.text);
    }
  }

  /** Does not wait for slow clients, which the limits of their connections disconnect. */
  async #send(text: string): Promise<void> {
    const joined = [...this.#members.keys()];
    for (const member of joined) {
      const turn = eventTurns.take();
      if (turn !== undefined) await turn;
      void this.#members.get(member)?.next(text);
    }
  }

  #keep(errors: readonly FormattedError[]): void {
    for (const [member, sink] of this.#members) if (sink !== null) member.keep(errors);
  }

  #end(tell: (sink: EventSink) => void): void {
    this.#over();
    for (const [member, sink] of this.#members) {
      member.end();
      if (sink !== null) tell(sink);
    }
    this.#members.clear();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ctx.abort(new DOMException("The shared subscription has ended", "AbortError"));
    this.#onOver();
  }
}

/** The membership of one client in a shared subscription. */
class SharedMember implements LiveSubscription {
  readonly kind = "stream" as const;
  readonly #stream: SharedStream;
  readonly #onEnd: Ended;
  /** The errors that were sent to it. */
  readonly #errors: FormattedError[] = [];

  constructor(stream: SharedStream, onEnd: Ended) {
    this.#stream = stream;
    this.#onEnd = onEnd;
  }

  start(sink: EventSink): void {
    this.#stream.start(this, sink);
  }

  whenListening(): Promise<void> {
    return this.#stream.whenListening();
  }

  keep(errors: readonly FormattedError[]): void {
    keepErrors(this.#errors, errors);
  }

  end(): void {
    this.#onEnd(this.#errors);
  }

  async leave(): Promise<void> {
    this.end();
    await this.#stream.leave(this);
  }
}
