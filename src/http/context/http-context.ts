import { inspect } from "node:util";
import type { Logger } from "../../core/logger.ts";
import { DependencyScope } from "../../dependencies/dependency-scope.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { type Caller, type Identity, NOBODY } from "../identity/identity.ts";
import type { SessionManager } from "../identity/session-manager.ts";
import type { AppServices } from "./app-services.ts";
import { endLeftOpen } from "./end-left-open.ts";
import { publishFrom } from "./event-hold.ts";
import type { HttpExchange } from "./exchange.ts";
import type { InFlight } from "./in-flight.ts";
import { IncomingRequest, type PorticoRequest, type RequestScope } from "./portico-request.ts";
import { OutgoingResponse, type PorticoResponse } from "./portico-response.ts";
import { type RenderError, renderProblem } from "./render-problem.ts";
import type { Socket } from "./socket.ts";

/** How the request or operation went, for the `finally` of a generator dependency. What was thrown is a failure. */
export type Outcome = "pending" | "success" | "failure";

/** How long an answer may be kept, and by whom. */
export interface CachePolicy {
  /** Seconds. */
  readonly maxAge: number;
  /** @default "private" */
  readonly scope?: "public" | "private";
}

/**
 * One per connection or operation: what a route, a socket and a resolver share.
 *
 * Declared as a parameter, under any name, it is handed in: `params: { http: HttpContext }`.
 */
export abstract class BaseContext<U = Caller> {
  static readonly "~instance": BaseContext = undefined as never;
  abstract readonly kind: "http" | "websocket";
  /** @internal */
  readonly services: AppServices;
  /** @internal */
  readonly exchange: HttpExchange;
  /** @internal `null` on a socket. */
  inFlight: InFlight | null = null;
  /** @internal */
  renderError: RenderError = renderProblem;
  #identity: Identity;
  readonly #isActing: boolean;
  #isIdentityRead = false;
  /** @internal `null` where no middleware provides them. */
  sessions: SessionManager | null = null;
  /** @internal The pattern of its route. */
  pattern = "";
  #outcome: Outcome = "pending";
  #request: IncomingRequest | undefined;
  #state: Map<unknown, unknown> | undefined;
  #dependencies: DependencyScope | undefined;
  #abort: AbortController | undefined;
  #pubsub: PubSub | undefined;
  #aborted: unknown;
  #outgoing: OutgoingResponse | undefined;
  readonly #maxBody: number;

  /** @internal */
  constructor(services: AppServices, exchange: HttpExchange, maxBody: number) {
    this.services = services;
    this.exchange = exchange;
    this.#maxBody = maxBody;
    const actor = services.actors.identityOf(exchange.headers);
    this.#isActing = actor !== undefined;
    this.#identity = actor ?? NOBODY;
  }

  /** Who is calling; nobody is an `AnonymousUser`. Never throws, also when no authentication is mounted. */
  get user(): U {
    return this.identity.user as U;
  }
  /** @internal */
  get identity(): Identity {
    this.#isIdentityRead = true;
    return this.#identity;
  }
  /** In a test that acts as somebody, no middleware says otherwise. */
  set identity(identity: Identity) {
    if (!this.#isActing) this.#identity = identity;
  }
  /** @internal Whether the answer may depend on who is calling: a cache must then tell callers apart. */
  get isIdentityRead(): boolean {
    return this.#isIdentityRead;
  }
  get scope(): RequestScope<U> {
    return this.identity as RequestScope as RequestScope<U>;
  }
  get request(): PorticoRequest<U> {
    return this.incoming as PorticoRequest as PorticoRequest<U>;
  }
  /** A place for what middleware hands to handlers. Keys are best a symbol or a class of their own. */
  get state(): Map<unknown, unknown> {
    this.#state ??= new Map();
    return this.#state;
  }
  /** Events between processes. What is published while a transaction is open waits for its commit. */
  get pubsub(): PubSub {
    this.#pubsub ??= {
      publish: (topic, value) =>
        publishFrom(this as BaseContext<unknown> as BaseContext, this.services.stores.bus, topic, value),
      subscribe: (topic, options) => this.services.stores.bus.subscribe(topic, options),
      settled: () => this.services.stores.bus.settled(),
    };
    return this.#pubsub;
  }
  get log(): Logger {
    return this.services.log;
  }
  /** Aborts when the client leaves and when the time for an answer is over; on a socket, when it is closed. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted);
      else this.exchange.onAbort(() => this.abort(new DOMException("The client is gone", "AbortError")));
    }
    return this.#abort.signal;
  }
  /** `pending` until the handler, and the stream that it answered with, have ended; then how. */
  get outcome(): Outcome {
    return this.#outcome;
  }
  /** Lets the answer be kept by the client, or by everybody on the way; on a socket there is nothing to keep. */
  abstract cache(policy: CachePolicy): void;

  /** What a log and `JSON.stringify` get: no headers, which hold credentials, and no query, which may. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { method, target } = this.exchange;
    const { user, auth } = this.#identity;
    return { kind: this.kind, method, path: target.split("?", 1)[0], user: user.identity, auth };
  }

  /** @internal */
  get incoming(): IncomingRequest {
    this.#request ??= new IncomingRequest(
      this as BaseContext<unknown> as BaseContext,
      this.exchange,
      this.#maxBody,
      this.services.publicUrl,
    );
    return this.#request;
  }
  /** @internal On a socket: the answer that refuses it. */
  get outgoing(): OutgoingResponse {
    this.#outgoing ??= new OutgoingResponse(this as BaseContext<unknown> as BaseContext);
    return this.#outgoing;
  }
  /** @internal From here on another answer counts than the one that a handler may still hold. */
  renewOutgoing(): void {
    this.#outgoing = this.outgoing.successor();
  }
  /** @internal */
  get dependencies(): DependencyScope {
    this.#dependencies ??= new DependencyScope(this, { shared: false, overrides: this.services.overrides });
    return this.#dependencies;
  }
  /** @internal */
  abort(reason: unknown): void {
    this.#aborted ??= reason;
    this.#abort?.abort(this.#aborted);
  }
  /** @internal The first word counts: what failed does not become a success. */
  settle(outcome: "success" | "failure"): void {
    if (this.#outcome === "pending") this.#outcome = outcome;
  }
  /** @internal Closes the dependencies, then what was left open; `undefined` when there is nothing to close, else the errors. */
  closeDependencies(): undefined | Promise<readonly unknown[]> {
    const dependencies = this.#dependencies;
    const closing = dependencies === undefined || dependencies.isIdle ? undefined : dependencies.close();
    return endLeftOpen(this as BaseContext<unknown> as BaseContext, closing);
  }
}

// The same for `console.log`.
Object.defineProperty(BaseContext.prototype, inspect.custom, {
  value(this: BaseContext) {
    return `${this.constructor.name} ${inspect(this.toJSON())}`;
  },
});

/** The context of a request over HTTP. */
export class HttpContext<U = Caller> extends BaseContext<U> {
  static override readonly "~instance": HttpContext = undefined as never;
  readonly kind = "http" as const;

  get response(): PorticoResponse {
    return this.outgoing as PorticoResponse<number> as PorticoResponse;
  }
  cache(policy: CachePolicy): void {
    this.outgoing.header("cache-control", `${policy.scope ?? "private"}, max-age=${Math.floor(policy.maxAge)}`);
  }
}

/** The context of an open socket, from its upgrade to its end. */
export class WebSocketContext<U = Caller> extends BaseContext<U> {
  static override readonly "~instance": WebSocketContext = undefined as never;
  readonly kind = "websocket" as const;
  #socket: Socket | null = null;

  /** The socket. Middleware and gates run before it is accepted, and find none. */
  get socket(): Socket {
    if (this.#socket === null) throw new Error("the socket is not open yet: to reject it, throw an HttpException");
    return this.#socket;
  }
  cache(_policy: CachePolicy): void {}
  /** @internal */
  get isOpen(): boolean {
    return this.#socket !== null;
  }
  /** @internal */
  open(socket: Socket): void {
    this.#socket = socket;
  }
}

/**
 * Says who is calling, for middleware that finds it out by itself. What gates judge by is set here and nowhere else; the
 * middleware of `portico/auth` does the same.
 *
 * @example
 * ```ts
 * import { identify, PorticoApp, type UserProtocol } from "portico";
 *
 * declare function userOf(certificate: string | undefined): UserProtocol | null;
 *
 * new PorticoApp().use(async (ctx, next) => {
 *   const user = userOf(ctx.request.headers["x-client-certificate"]);
 *   if (user !== null) identify(ctx, { user, auth: "apikey" });
 *   await next();
 * });
 * ```
 */
export function identify(ctx: HttpContext | WebSocketContext, identity: Identity): void {
  ctx.identity = identity;
}
