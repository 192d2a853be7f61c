import { AsyncResource } from "node:async_hooks";
import { inspect } from "node:util";
import type { Logger } from "../../core/logger.ts";
import { DependencyScope } from "../../dependencies/dependency-scope.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import type { Gate } from "../access/gate.ts";
import { publishFrom } from "../events/event-hold.ts";
import type { HttpExchange } from "../exchange/exchange.ts";
import type { Socket } from "../exchange/socket.ts";
import { ANONYMOUS, type AuthScope, type Caller, type Identity } from "../identity/identity.ts";
import { endLeftOpen } from "../leaks/end-left-open.ts";
import type { AppServices } from "./app-services.ts";
import { Checks } from "./checks.ts";
import type { AuthorizeOptions } from "./decisions.ts";
import { eachAnew, endMemos, outlivesQuestions } from "./memo-of.ts";
import type { Incoming, Outgoing, RenderError } from "./messages.ts";
import type { PorticoRequest, RequestScope } from "./portico-request.ts";
import type { PorticoResponse } from "./portico-response.ts";

/** The outcome of a request or operation, for the `finally` of a generator dependency. A thrown error is a failure. */
export type Outcome = "pending" | "success" | "failure";

/** How long a response may be cached, and by which caches. */
export interface CachePolicy {
  /** In seconds. */
  readonly maxAge: number;
  /** @default "private" */
  readonly scope?: "public" | "private";
}

/**
 * The context of one connection or operation, shared by routes, sockets and resolvers.
 *
 * Declare it as a parameter under any name to receive it: `params: { http: HttpContext }`.
 */
export abstract class BaseContext<U = Caller> {
  static readonly "~instance": BaseContext = undefined as never;
  abstract readonly kind: "http" | "websocket";
  /** @internal */
  readonly services: AppServices;
  /** @internal */
  readonly exchange: HttpExchange;
  /** @internal The values of features, each of which reads them by its own `FeatureSlot`. */
  slots: unknown[] | null = null;
  /** @internal The error that it responds to. */
  error: unknown = undefined;
  /** @internal */
  renderError: RenderError;
  #identity: Identity;
  readonly #isActing: boolean;
  #isIdentityRead = false;
  /** @internal The path pattern of its route. */
  pattern = "";
  /** @internal Whether it reacts to events, so that it must not read data that is older than they are. */
  followsEvents = false;
  #outcome: Outcome = "pending";
  #request: Incoming | undefined;
  #state: Map<unknown, unknown> | undefined;
  #dependencies: DependencyScope | undefined;
  #controller: AbortController | undefined;
  #watchers: Set<(reason: unknown) => void> | undefined;
  #pubsub: PubSub | undefined;
  #aborted: unknown;
  #outgoing: Outgoing | undefined;
  #checks: Checks | undefined;
  readonly #maxBody: number;

  /** @internal */
  constructor(services: AppServices, exchange: HttpExchange, maxBody: number) {
    this.services = services;
    this.exchange = exchange;
    this.#maxBody = maxBody;
    this.renderError = services.messages.renderError;
    const actor = services.actors.identityOf(exchange.headers);
    this.#isActing = actor !== undefined;
    this.#identity = actor ?? ANONYMOUS;
  }

  /** The caller; an `AnonymousUser` if no one is signed in. Never throws, even without authentication. */
  get user(): U {
    return this.identity.user as U;
  }
  /**
   * The identity of the administrator who acts as `user`; `null` unless the caller is impersonated. Check it before an
   * action that only the user may take, and write it to audit logs.
   */
  get impersonator(): string | null {
    return this.identity.credential?.impersonator ?? null;
  }
  /** @internal Like `impersonator`, for code that runs for every caller: the response does not depend on it. */
  get isImpersonated(): boolean {
    return this.#identity.credential?.impersonator !== undefined;
  }
  /** @internal Like `identity`, for code that runs for every caller: the response does not depend on it. */
  get caller(): Identity {
    return this.#identity;
  }
  /** @internal */
  get identity(): Identity {
    this.#isIdentityRead = true;
    return this.#identity;
  }
  /** In a test that acts as a user, middleware cannot change the identity. */
  set identity(identity: Identity) {
    if (this.#isActing || identity === this.#identity) return;
    this.#identity = identity;
    // The next caller must not see values that were loaded and decided for this one.
    endMemos(this);
  }
  /** @internal Whether the response may depend on the caller, so that a cache must keep callers apart. */
  get isIdentityRead(): boolean {
    return this.#isIdentityRead;
  }
  get scope(): RequestScope<U> {
    return this.identity as RequestScope as RequestScope<U>;
  }
  get request(): PorticoRequest<U> {
    return this.incoming as PorticoRequest as PorticoRequest<U>;
  }
  /** A place for values that middleware passes to handlers. Use a symbol or a class as the key. */
  get state(): Map<unknown, unknown> {
    this.#state ??= new Map();
    return this.#state;
  }
  /** Events between processes. Events published while a transaction is open wait for its commit. */
  get pubsub(): PubSub {
    this.#pubsub ??= {
      publish: (topic, value) =>
        publishFrom(this as BaseContext<unknown> as BaseContext, this.services.stores.bus, topic, value),
      subscribe: (topic, options) => {
        this.followsEvents = true;
        return eachAnew(
          this as BaseContext<unknown> as BaseContext,
          this.services.stores.bus.subscribe(topic, options),
        );
      },
      settled: () => this.services.stores.bus.settled(),
    };
    return this.#pubsub;
  }
  get log(): Logger {
    return this.services.log;
  }
  /** Aborts when the client disconnects or the request times out; on a socket, when it is closed. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      // The listeners run in the async context that asked for the signal, not in that of a timer or a socket.
      const asker = new AsyncResource("PORTICO_SIGNAL");
      this.watchAbort((reason) => asker.runInAsyncScope(() => controller.abort(reason)));
    }
    return this.#controller.signal;
  }
  /** @internal Calls back when the signal aborts, without creating it. Returns a function that stops watching. */
  watchAbort(giveUp: (reason: unknown) => void): () => void {
    if (this.#watchers === undefined) {
      this.#watchers = new Set();
      if (this.#aborted === undefined)
        this.exchange.onAbort(() => this.abort(new DOMException("The client disconnected", "AbortError")));
    }
    if (this.#aborted !== undefined) giveUp(this.#aborted);
    else this.#watchers.add(giveUp);
    return () => {
      this.#watchers?.delete(giveUp);
    };
  }
  /** @internal Whether the signal is aborted, without creating one. */
  get isAborted(): boolean {
    return this.#aborted !== undefined || (this.#watchers === undefined && this.exchange.isGone);
  }
  /** `pending` until the handler and its streamed response have ended. */
  get outcome(): Outcome {
    return this.#outcome;
  }
  /**
   * Returns the object if the rule allows it. Await it: a request that doesn't fails. A missing object and a refused one both reject with 404, so that a caller
   * cannot tell a foreign id from an unknown one. Rejects with 503 if the rule cannot decide.
   *
   * @example
   * ```ts
   * import { PorticoApp, rule } from "portico";
   *
   * interface NoteRow { id: string; owner: string }
   * declare function findNote(id: string): Promise<NoteRow | undefined>;
   * const ownNotes = rule<NoteRow>({ name: "note.own", allows: (user, note) => note.owner === user.identity });
   *
   * new PorticoApp().get("/notes/:id", { auth: true }, async ({ ctx, path }) =>
   *   ctx.authorize(ownNotes, await findNote(path.id)),
   * );
   * ```
   */
  authorize<T>(
    rule: Gate<boolean, AuthScope, { readonly parent: NonNullable<NoInfer<T>> }>,
    object: T,
    options: AuthorizeOptions = {},
  ): Promise<NonNullable<T>> {
    return this.services.decisions.authorize(this as BaseContext<unknown> as BaseContext, rule, object, options);
  }
  /**
   * Returns whether the rule allows the object, for code that only wants to know. Rejects if the rule cannot decide. Await it: a
   * request that doesn't fails.
   */
  can<T>(rule: Gate<boolean, AuthScope, { readonly parent: NonNullable<NoInfer<T>> }>, object: T): Promise<boolean> {
    return this.services.decisions.can(this as BaseContext<unknown> as BaseContext, rule, object);
  }
  /**
   * Allows the client, or also shared caches, to cache the response. Of several calls, and of a `Cache-Control` header that is
   * already set, the strictest wins. A response for which the caller's identity was read is never `public`. It has no effect on
   * a socket.
   */
  abstract cache(policy: CachePolicy): void;

  /** The form for logs and `JSON.stringify`: without headers, which contain credentials, and without the query, which may. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { method, target } = this.exchange;
    const { user, auth, credential } = this.#identity;
    const impersonator = credential?.impersonator;
    const caller = { user: user.identity, auth, ...(impersonator === undefined ? {} : { impersonator }) };
    return { kind: this.kind, method, path: target.split("?", 1)[0], ...caller };
  }

  /** @internal The checks that its code makes. An operation that is not alone on its connection has its own. */
  get checks(): Checks {
    return (this.#checks ??= new Checks());
  }
  /** @internal The error for a check that nothing waited for. Reading it a second time returns `null`. */
  get forgottenCheck(): Error | null {
    return this.#checks?.take(placeOf(this as BaseContext<unknown> as BaseContext)) ?? null;
  }
  /** @internal */
  get incoming(): Incoming {
    this.#request ??= this.services.messages.incoming(
      this as BaseContext<unknown> as BaseContext,
      this.exchange,
      this.#maxBody,
      this.services.publicUrl,
    );
    return this.#request;
  }
  /** @internal On a socket, the response that rejects it. */
  get outgoing(): Outgoing {
    this.#outgoing ??= this.services.messages.outgoing(this as BaseContext<unknown> as BaseContext);
    return this.#outgoing;
  }
  /** @internal Replaces the response, because a handler may still hold the previous one. */
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
    if (this.#aborted !== undefined) return;
    this.#aborted = reason;
    for (const giveUp of this.#watchers ?? []) giveUp(reason);
    this.#watchers?.clear();
  }
  /** @internal The first outcome is final: a failure does not become a success. */
  settle(outcome: "success" | "failure"): void {
    if (this.#outcome === "pending") this.#outcome = outcome;
  }
  /**
   * @internal Closes the dependencies, then everything left open. Returns the errors, or `undefined` if there is nothing to
   * close.
   */
  closeDependencies(): undefined | Promise<readonly unknown[]> {
    const dependencies = this.#dependencies;
    const closing = dependencies === undefined || dependencies.isIdle ? undefined : dependencies.close();
    return endLeftOpen(this, closing);
  }
}

/** The place of a request, for the error of its code. */
export function placeOf(ctx: BaseContext): string {
  const { exchange, pattern } = ctx;
  return `${exchange.method} ${pattern}`;
}

// `console.log` prints a context like `toJSON`, without credentials.
Object.defineProperty(BaseContext.prototype, inspect.custom, {
  value(this: BaseContext) {
    return `${this.constructor.name} ${inspect(this.toJSON())}`;
  },
});

/** The context of an HTTP request. */
export class HttpContext<U = Caller> extends BaseContext<U> {
  static override readonly "~instance": HttpContext = undefined as never;
  readonly kind = "http" as const;

  get response(): PorticoResponse {
    return this.outgoing as PorticoResponse<number> as PorticoResponse;
  }
  cache(policy: CachePolicy): void {
    this.outgoing.cache(`${policy.scope ?? "private"}, max-age=${Math.floor(policy.maxAge)}`);
  }
}

/** The context of an open socket, from its upgrade to its end. */
export class WebSocketContext<U = Caller> extends BaseContext<U> {
  static override readonly "~instance": WebSocketContext = undefined as never;
  readonly kind = "websocket" as const;
  /** @internal An operation on the socket has its own. */
  override followsEvents = true;
  #socket: Socket | null = null;

  /** @internal */
  constructor(services: AppServices, exchange: HttpExchange, maxBody: number) {
    super(services, exchange, maxBody);
    outlivesQuestions(this as WebSocketContext<unknown> as WebSocketContext);
  }

  /** The socket. It does not exist yet in middleware and gates, which run before the upgrade. */
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
 * Sets the caller, for custom authentication middleware. Gates check the identity set here; the middleware of `portico/auth`
 * uses it too.
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
