import { AsyncLocalStorage } from "node:async_hooks";
import type { ExecutionResult } from "graphql";
import { eventTurns } from "../../core/work/event-loop-turns.ts";
import { inBackground } from "../../core/work/in-background.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { whenListening } from "../../kernel/events/listening.ts";
import type { Admitted, FindingsSoFar } from "../admit/admitted.ts";
import type { ErrorFormat } from "../errors/error-format.ts";
import type { FormattedError } from "../errors/formatted-error.ts";
import type { Observation } from "../hooks/observation.ts";
import { keepErrors } from "../hooks/observed-stream.ts";
import { SharedContext } from "../operation/shared-context.ts";
import { EventResponses } from "../respond/event-responses.ts";
import { isRefused, type OperationResponse, responseToError } from "../respond/operation-response.ts";
import { type ResultStream, runSubscription } from "../run/run-subscription.ts";
import {
  type EventSink,
  isResultStream,
  type LiveSubscription,
  noEvents,
  type Streaming,
} from "./live-subscription.ts";

/**
 * The running shared subscriptions, one for each document and its variables. Each event is executed and serialized once, and
 * sent to all members. A subscription starts with its first member and ends with its last.
 */
export class SharedStreams {
  readonly #byServices = new WeakMap<AppServices, Map<string, SharedStream>>();
  // Outside any request: the async state of the first member's middleware must not reach the other members.
  readonly #outside = AsyncLocalStorage.snapshot();

  async join(
    streaming: Streaming,
    ctx: BaseContext,
    admitted: Admitted,
    observation: Observation,
    findings: FindingsSoFar,
  ): Promise<OperationResponse | LiveSubscription> {
    const running = this.#byServices.get(ctx.services) ?? new Map<string, SharedStream>();
    this.#byServices.set(ctx.services, running);
    const key = keyOf(findings.operationName, admitted);
    const start = (): SharedStream =>
      new SharedStream(streaming, ctx, admitted, findings, () => {
        running.delete(key);
      });
    const stream = running.get(key) ?? this.#outside(start);
    running.set(key, stream);
    return stream.join(observation.ending(findings), ctx, streaming.errorFormat, findings);
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
  readonly #failure: (error: unknown) => OperationResponse;
  /** The members, each with its sink once it has started. */
  readonly #members = new Map<SharedMember, EventSink | null>();
  #isPumping = false;
  #isOver = false;

  constructor(
    streaming: Streaming,
    { services, exchange }: BaseContext,
    admitted: Admitted,
    findings: FindingsSoFar,
    onOver: () => void,
  ) {
    this.#onOver = onOver;
    this.#ctx = new SharedContext(services, exchange.target.split("?", 1)[0] ?? "");
    this.#failure = (error) => responseToError(error, this.#ctx, streaming.errorFormat, findings);
    const execution = { ...admitted.execution, timeoutMs: streaming.timeoutMs, trace: null };
    this.#inside = withContext(this.#ctx, () => AsyncLocalStorage.snapshot());
    this.#source = this.#inside(() => runSubscription(this.#ctx, execution));
    this.#responses = this.#source.then(
      (source) =>
        isResultStream(source) ? new EventResponses(source, this.#ctx, streaming.errorFormat, findings) : null,
      () => null,
    );
  }

  async join(
    onEnd: Ended,
    ctx: BaseContext,
    errorFormat: ErrorFormat,
    findings: FindingsSoFar,
  ): Promise<OperationResponse | LiveSubscription> {
    const member = new SharedMember(this, onEnd);
    this.#members.set(member, null);
    try {
      const source = await this.#source;
      if (isResultStream(source)) return member;
      this.#over();
      return noEvents(source, ctx, errorFormat, findings);
    } catch (error) {
      this.#over();
      throw error;
    }
  }

  start(member: SharedMember, sink: EventSink): void {
    this.#members.set(member, sink);
    if (this.#isPumping) return;
    this.#isPumping = true;
    inBackground(this.#inside(() => this.#pump()));
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

  /** Never rejects: an error that nothing else has turned into a response ends the subscription. */
  async #pump(): Promise<void> {
    try {
      await this.#sendAll();
    } catch (error) {
      const { text } = this.#failure(error);
      await this.#end((sink) => sink.error(text));
    }
  }

  async #sendAll(): Promise<void> {
    const responses = await this.#responses;
    for (;;) {
      const event = await responses?.next();
      if (this.#isOver) return;
      if (event === undefined || event.done === true) return this.#end((sink) => sink.complete());
      const { text, body } = event.value;
      if (isRefused(event.value)) return this.#end((sink) => sink.error(text), body.errors);
      await this.#each((member, sink) => {
        if (body.errors !== undefined && sink !== null) member.keep(body.errors);
        // Does not wait for slow clients, which the limits of their connections disconnect.
        inBackground(sink?.next(text));
      });
    }
  }

  async #end(tell: (sink: EventSink) => void, errors: readonly FormattedError[] = []): Promise<void> {
    this.#over();
    await this.#each((member, sink) => {
      this.#members.delete(member);
      if (sink !== null) member.keep(errors);
      member.end();
      if (sink !== null) tell(sink);
    });
  }

  /** Takes turns with the other work of the process, because there may be thousands of members. Some may leave meanwhile. */
  async #each(step: (member: SharedMember, sink: EventSink | null) => void): Promise<void> {
    const joined = [...this.#members.keys()];
    for (const member of joined) {
      const turn = eventTurns.take();
      if (turn !== undefined) await turn;
      const sink = this.#members.get(member);
      if (sink !== undefined) step(member, sink);
    }
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
