import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { FeatureSlot } from "../../core/feature-slot.ts";
import type { Logger } from "../../core/logger.ts";
import type { Figure } from "../../core/parts/parts.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { type AroundHook, CalledHook, runInside } from "./called-hook.ts";
import { UnavailableResponses } from "./unavailable-responses.ts";

/** The event that a request hook is called with. */
export interface RequestEvent {
  /** A response that was sent, or a socket that was opened or closed. */
  readonly kind: "response" | "socket-opened" | "socket-closed";
  readonly method: string;
  /** The path pattern of the route, such as `/books/:id`; `null` if no route matched. */
  readonly route: string | null;
  /** The status of the response; 101 for a socket. */
  readonly status: number;
  /** The code of the error that was thrown, `INTERNAL_SERVER_ERROR` for one without a code; `null` if none was thrown. */
  readonly code: string | null;
  /** The correlation id in the response and in the log line of an unexpected error; `null` for every other response. */
  readonly correlationId: string | null;
  /** The time since the request arrived: to the response, the end of a streamed response, or the event of the socket. */
  readonly durationSeconds: number;
}

export type RequestFunction = (event: RequestEvent) => unknown;

/**
 * Runs the request inside a span, an `AsyncLocalStorage` or something similar. It must call `run` immediately and once. The
 * promise of `run` resolves when the response was sent or the socket was closed.
 */
export type RequestAround = AroundHook<RequestEvent>;

/** Called once, when the hook is added, with a function that returns the figures of the application's parts at any time. */
export type WatchFigures = (figures: () => readonly Figure[]) => void;

/** A function, or an object with `onRequest`, `aroundRequest` or both. */
export type RequestHook = RequestFunction | ((HookWithRequest | HookAround) & { readonly watchFigures?: WatchFigures });

interface HookWithRequest {
  readonly onRequest: RequestFunction;
  readonly aroundRequest?: RequestAround;
}
interface HookAround {
  readonly onRequest?: RequestFunction;
  readonly aroundRequest: RequestAround;
}

const HOOK_NAME = "a request hook";

/** The hooks that observe the requests of an application. */
export class RequestHooks {
  /** The responses with status 503, however they were sent. */
  readonly unavailable: UnavailableResponses = new UnavailableResponses();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #called: CalledHook<[RequestEvent]>[] = [];
  readonly #around: RequestAround[] = [];
  /** By the headers of the request, which all its exchanges share. */
  readonly #observed = new WeakMap<object, RequestObservation>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Throws `ConfigurationError` for a value that is not a hook. */
  add(hook: RequestHook): void {
    const { onRequest, aroundRequest } = membersOf(hook);
    if ((onRequest ?? aroundRequest) === undefined || !isCallable(onRequest) || !isCallable(aroundRequest))
      throw new ConfigurationError(
        "onRequest",
        "given a function (event), or an object with onRequest or aroundRequest",
        hook,
      );
    if (onRequest !== undefined) this.#called.push(new CalledHook(HOOK_NAME, (event) => onRequest.call(hook, event)));
    if (aroundRequest !== undefined) this.#around.push((run) => aroundRequest.call(hook, run));
  }

  /** Observes one request; `null` without hooks. */
  observe(request: ObservedRequest): RequestObservation | null {
    if (this.#called.length === 0 && this.#around.length === 0) return null;
    const observation = new RequestObservation(this, request);
    this.#observed.set(request.exchange.headers, observation);
    return observation;
  }

  /** The observation of a request that has had a context before. */
  observationOf({ headers }: ObservedRequest["exchange"]): RequestObservation | undefined {
    return this.#observed.get(headers);
  }

  now(): number {
    return this.#clock.monotonic();
  }

  call(event: RequestEvent): void {
    for (const hook of this.#called) hook.call(this.#log, event);
  }

  enter<T>(work: () => T, ended: Promise<RequestEvent>): T {
    return runInside(this.#around, work, { ended, log: this.#log, name: HOOK_NAME });
  }
}

/** The part of a context that the hooks see. */
interface ObservedRequest {
  readonly exchange: { readonly method: string; readonly headers: object };
  readonly pattern: string;
}

/** One request as the hooks see it, from its arrival to its response or the end of its socket. */
export class RequestObservation {
  readonly #hooks: RequestHooks;
  readonly #request: ObservedRequest;
  readonly #started: number;
  readonly #ended: PromiseWithResolvers<RequestEvent> = Promise.withResolvers();
  #isOver = false;
  #code: string | null = null;
  #correlationId: string | null = null;

  constructor(hooks: RequestHooks, request: ObservedRequest) {
    this.#hooks = hooks;
    this.#request = request;
    this.#started = hooks.now();
  }

  /** Serves the request inside the hooks that surround it. */
  run<T>(work: () => T): T {
    return this.#hooks.enter(work, this.#ended.promise);
  }

  /** An unexpected error was logged, and the response shows the id of its line. */
  logged(correlationId: string): void {
    this.#correlationId = correlationId;
  }

  /**
   * The response was sent. A response that replaces one whose sending failed is not counted again.
   *
   * @param error the error that it is for; `undefined` if a handler wrote it
   */
  responded(status: number, error: unknown): void {
    if (!this.#isOver && status === 503) this.#hooks.unavailable.count(error);
    if (error !== undefined) this.#code = isInstance(error, PorticoError) ? error.code : "INTERNAL_SERVER_ERROR";
    this.#end("response", status);
  }

  socketOpened(): void {
    this.#hooks.call(this.#event("socket-opened", 101));
  }

  socketClosed(): void {
    this.#end("socket-closed", 101);
  }

  #end(kind: RequestEvent["kind"], status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const event = this.#event(kind, status);
    this.#hooks.call(event);
    this.#ended.resolve(event);
  }

  #event(kind: RequestEvent["kind"], status: number): RequestEvent {
    const { exchange, pattern } = this.#request;
    const durationSeconds = (this.#hooks.now() - this.#started) / 1000;
    const [code, correlationId] = [this.#code, this.#correlationId];
    return { kind, method: exchange.method, route: pattern || null, status, code, correlationId, durationSeconds };
  }
}

interface HookMembers {
  readonly onRequest?: RequestFunction;
  readonly aroundRequest?: RequestAround;
}

function membersOf(hook: unknown): HookMembers {
  if (typeof hook === "function") return { onRequest: hook as RequestFunction };
  return typeof hook === "object" && hook !== null ? hook : {};
}

function isCallable(value: unknown): boolean {
  return value === undefined || typeof value === "function";
}

/** The observation of a request; `null` without hooks, and where the response belongs to another server. */
export const observationOf: FeatureSlot<RequestObservation | null> = new FeatureSlot<RequestObservation | null>(null);
