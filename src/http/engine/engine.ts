import { type IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Readable } from "node:stream";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import { errorSerializer } from "../../core/error-serializer.ts";
import type { Logger } from "../../core/logger.ts";
import { addressBucket } from "../context/address-bucket.ts";
import type {
  AcceptOptions,
  BodyWatcher,
  Exchange,
  HttpExchange,
  Payload,
  RawPath,
  RawQuery,
  RawSocket,
  UpgradeExchange,
} from "../context/exchange.ts";
import { unreadResponses } from "../context/unread-responses.ts";
import { ServiceUnavailable } from "../exceptions/http-exception.ts";
import { methodFinder, withHead } from "../routing/method-finder.ts";
import type { Method } from "../routing/route.ts";
import { acceptUpgrade, type PendingUpgrade } from "./accept-upgrade.ts";
import { AcceptedExchange } from "./accepted-exchange.ts";
import { clientAddress } from "./client-address.ts";
import { contain } from "./contain.ts";
import { DelegatedExchange } from "./delegated-exchange.ts";
import { dropUnreadBody } from "./drop-unread-body.ts";
import { checkHost, hostName } from "./host-name.ts";
import { malformedRequest } from "./malformed-request.ts";
import { afterResponses, closeWithConnection, pendingResponse } from "./pending-response.ts";
import { runInOrder } from "./run-in-order.ts";
import { cutHandedOver, takeOver } from "./take-over.ts";

export type { FastifyInstance, FastifyPluginAsync };

// This is the only file that knows Fastify. `docs/guide/hardening.md` lists what it hardens, and why.

/** The complete application, passed to the engine before it starts. */
export interface EngineApp {
  readonly routes: readonly {
    readonly method: Method;
    readonly path: string;
    readonly serve: (exchange: HttpExchange) => void;
    /** Responds when the engine, or a plugin of its ecosystem, rejected a request for this route. */
    readonly refuse: (exchange: HttpExchange, error: Error) => void;
  }[];
  readonly sockets: readonly { readonly path: string; readonly serve: (exchange: UpgradeExchange) => void }[];
  /** Responds when no route has this path with this method; `allowed` are the methods that the path has. */
  readonly serveNothing: (exchange: HttpExchange, allowed: readonly Method[]) => void;
  /** Responds when the path only has a socket and the request is not an upgrade. */
  readonly serveNoUpgrade: (exchange: HttpExchange) => void;
  /** Responds when a request was rejected before a route was found. */
  readonly serveRefusal: (exchange: HttpExchange, error: Error) => void;
}

export interface EngineOptions {
  readonly logger: Logger | { readonly level: string; readonly stream?: { write(line: string): void } } | false;
  readonly trustedProxies: readonly string[];
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

/** A request without a socket. */
export interface InjectRequest {
  /** @default "GET" */
  readonly method?: string;
  /** Path and query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable;
}

/** The response to an `InjectRequest`. */
export interface InjectResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Paths may contain cursors and signed tokens, and Fastify's default limit of 100 characters would reject them with 414. */
const MAX_PARAM_LENGTH = 8_192;
/** How long the connection of a rejected upgrade is kept for a client that does not close it. */
const CUT_MS = 250;
/** How often idle connections are closed during shutdown. */
const CLOSE_IDLE_MS = 100;
const ROUTER = { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH };

export class Engine {
  readonly fastify: FastifyInstance;
  #isClosing = false;
  #app: EngineApp | null = null;

  constructor(options: EngineOptions) {
    const { logger } = options;
    this.fastify = Fastify({
      // The type asks for all of pino, but Fastify only calls the methods that `Logger` has.
      ...(isLogger(logger)
        ? { loggerInstance: logger as unknown as FastifyBaseLogger }
        : { logger: ownLogger(logger) }),
      logController: new LogController({ disableRequestLogging: true }),
      trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
      requestTimeout: options.requestTimeoutMs,
      keepAliveTimeout: options.keepAliveTimeoutMs,
      http: {
        headersTimeout: options.headersTimeoutMs,
        connectionsCheckingInterval: checkInterval(options),
        shouldUpgradeCallback: (request) => this.#isUpgrade(request),
      },
      routerOptions: ROUTER,
      // Our own routes respond while closing, in the format of any other rejection.
      return503OnClosing: false,
      frameworkErrors: (error, request, reply) => this.#refuse(error, request as FastifyRequest, reply as FastifyReply),
      clientErrorHandler: (error, socket) => contain(this.log, socket, () => malformedRequest(error, socket)),
    });
    const { server } = this.fastify;
    // Fastify's own listener is removed, because nothing would catch its errors.
    server.removeAllListeners("request").on("request", (request, response) => this.route(request, response));
  }

  get log(): Logger {
    return this.fastify.log;
  }

  /** Registers the application. Fastify plugins that were registered before wrap its routes. */
  start(app: EngineApp): void {
    void this.fastify.register(async (scope) => {
      await this.plugin(app, methodFinder(app, ROUTER))(scope, {});
    });
    // A client that waits for `100 Continue` gets it when a handler reads the body, so the gate comes first.
    this.fastify.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      waiting.set(request, response);
      this.route(request, response);
    });
    // Without a listener Node closes the connection, and with it the responses that are still pending on it.
    this.fastify.server.on("connect", (request, socket) => routeUpgrade(this.fastify, request, socket, null));
    if (app.sockets.length > 0)
      this.fastify.server.on("upgrade", (request, socket, head) => routeUpgrade(this.fastify, request, socket, head));
  }

  /** Routes a request of a server event. */
  route(request: IncomingMessage, response: ServerResponse): void {
    contain(this.log, request.socket, () => this.fastify.routing(request, response));
  }

  /** The routes as a plugin, for this engine or for another Fastify application. With `methods` it also handles unknown paths. */
  plugin(app: EngineApp, methods?: (url: string) => readonly Method[]): FastifyPluginAsync {
    this.#app = app;
    return async (fastify) => {
      await fastify.register(async (scope) => {
        // The body is read after the gate, by our own size-limited reader, so no parser runs before.
        scope.removeAllContentTypeParsers();
        scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
        scope.setErrorHandler((error: Error, request, reply) => this.#refuse(error, request, reply));
        if (methods !== undefined) {
          scope.setNotFoundHandler((request, reply) =>
            app.serveNothing(this.#exchange(request, reply), methods(request.url)),
          );
        }
        if (methods === undefined) this.#answerOptions(scope, app);
        const sockets = new Map(app.sockets.map((socket) => [socket.path, socket.serve]));
        for (const { method, path, serve, refuse } of app.routes) {
          const serveUpgrade = method === "GET" ? sockets.get(path) : undefined;
          if (serveUpgrade !== undefined) sockets.delete(path);
          scope.route({
            method,
            url: path,
            handler: (request, reply) => this.#serve(request, reply, serve, serveUpgrade),
            errorHandler: (error: Error, request, reply) => this.#refuse(error, request, reply, refuse),
          });
        }
        for (const [path, serveUpgrade] of sockets) {
          scope.route({
            method: "GET",
            url: path,
            handler: (request, reply) => this.#serve(request, reply, app.serveNoUpgrade, serveUpgrade),
          });
        }
      });
    };
  }

  /** In another Fastify application unknown paths are not ours, but preflights for our routes are. */
  #answerOptions(scope: FastifyInstance, app: EngineApp): void {
    const byPath = Map.groupBy(app.routes, ({ path }) => path);
    for (const [path, routes] of byPath) {
      const allowed = routes.map(({ method }) => method);
      if (allowed.includes("OPTIONS")) continue;
      scope.options(path, (request, reply) => app.serveNothing(this.#exchange(request, reply), withHead(allowed)));
    }
  }

  /** Serves a request without a socket. */
  async inject(request: InjectRequest): Promise<InjectResponse> {
    const { method = "GET", url, headers = {}, body } = request;
    const answer = await this.fastify.inject({
      method: method as Method,
      url,
      headers,
      // Bytes in anything but a Buffer would be sent as JSON.
      ...(body === undefined ? {} : { payload: body instanceof Uint8Array ? Buffer.from(body) : body }),
    });
    return { status: answer.statusCode, headers: answer.headers as InjectResponse["headers"], body: answer.rawPayload };
  }

  async ready(): Promise<void> {
    await this.fastify.ready();
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    await this.fastify.listen({ port, host });
    return this.fastify.server.address() as AddressInfo;
  }

  /** From now on every response closes its connection, because `close()` would wait for idle ones. */
  closeConnectionsAfterAnswers(): void {
    this.#isClosing = true;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Stops accepting connections, and resolves after the last response. After `deadlineMs` everything left is cut off. */
  async close(deadlineMs: number): Promise<void> {
    this.closeConnectionsAfterAnswers();
    const { server } = this.fastify;
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      cutHandedOver(server);
    }, deadlineMs);
    // A connection whose stream has just ended becomes idle only now, and would be kept until its keep-alive time ends.
    const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
    try {
      await this.fastify.close();
    } finally {
      clearTimeout(deadline);
      clearInterval(idle);
    }
  }

  /**
   * RFC 9110 section 7.8: a server that does not support the protocol continues as if there had been no upgrade. Some clients
   * offer HTTP/2 with every request. Node before 22.21 and 24.9 does not call this.
   */
  #isUpgrade({ method, headers }: IncomingMessage): boolean {
    const isSocket = method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
    return isSocket && this.fastify.server.listenerCount("upgrade") > 0;
  }

  #serve(
    request: FastifyRequest,
    reply: FastifyReply,
    serve: (exchange: HttpExchange) => void,
    serveUpgrade: ((exchange: UpgradeExchange) => void) | undefined,
  ): void {
    const refusal = checkHost(request.raw.headers.host, request.raw.rawHeaders);
    if (refusal !== null) throw refusal;
    const pending = serveUpgrade === undefined ? undefined : upgrades.get(request.raw);
    if (serveUpgrade !== undefined && pending !== undefined && pending !== null)
      return serveUpgrade(new FastifyUpgrade(this, request, reply, pending));
    const isTaken = runInOrder(request.raw, reply.raw, () => serve(this.#exchange(request, reply)));
    if (!isTaken)
      throw new ServiceUnavailable("Too many requests are waiting on this connection", { code: "OVERLOADED" });
  }

  #exchange(request: FastifyRequest, reply: FastifyReply): HttpExchange {
    return new FastifyExchange(this, request, reply);
  }

  #refuse(error: Error, request: FastifyRequest, reply: FastifyReply, refuse = this.#app?.serveRefusal): void {
    // The client disconnected before the first byte of its stream, so it cannot read a response.
    if (streaming.has(reply) && reply.raw.destroyed) return;
    // For a stream that failed before its first byte, headers from the handler are removed and headers from plugins stay.
    for (const name of streaming.get(reply) ?? []) {
      reply.removeHeader(name);
      reply.raw.removeHeader(name);
    }
    refuse?.(this.#exchange(request, reply), error);
  }
}

/** Requests whose client waits for `100 Continue`, and pending upgrades; `null` for those that cannot become a socket. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();
const upgrades = new WeakMap<IncomingMessage, PendingUpgrade | null>();
/** The headers of streamed responses. */
const streaming = new WeakMap<FastifyReply, readonly string[]>();

class FastifyExchange implements HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly #engine: Engine;
  #watcher: BodyWatcher | null = null;
  /** Whether all of the body was read at once, maybe before Node has noticed its end. */
  #isBodyRead = false;
  #sender: Pick<Exchange, "ip" | "host" | "protocol"> | null = null;

  constructor(engine: Engine, request: FastifyRequest, reply: FastifyReply) {
    this.#engine = engine;
    this.request = request;
    this.reply = reply;
  }

  get method(): string {
    return this.request.method;
  }
  get target(): string {
    // RFC 9112 section 3.2.2: a client may send the absolute URL.
    const { originalUrl } = this.request;
    return originalUrl.startsWith("/") ? originalUrl : originalUrl.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  }
  get headers(): FastifyRequest["headers"] {
    return this.request.headers;
  }
  get rawHeaders(): readonly string[] {
    return this.request.raw.rawHeaders;
  }
  get params(): RawPath {
    return this.request.params as RawPath;
  }
  get query(): RawQuery {
    return this.request.query as RawQuery;
  }
  get ip(): string {
    return this.#sender?.ip ?? clientAddress(this.request.ip, this.request.raw.socket.remoteAddress);
  }
  get host(): string {
    return this.#sender?.host ?? hostName(this.request.host, this.request.headers.host);
  }
  get protocol(): string {
    return this.#sender?.protocol ?? this.request.protocol;
  }

  get isInjected(): boolean {
    return !(this.request.raw.socket instanceof Socket);
  }

  body(): Readable {
    const { raw, body } = this.request;
    // A loop over the body that ends early detaches the connection from the request, so its data is read now.
    this.#sender ??= { ip: this.ip, host: this.host, protocol: this.protocol };
    this.#followBody(raw);
    const response = waiting.get(raw);
    // Node throws if the final response has already begun.
    if (response?.headersSent === false) response.writeContinue();
    waiting.delete(raw);
    return body instanceof Readable ? body : raw;
  }

  watchBody(watcher: BodyWatcher): void {
    this.#watcher = watcher;
  }

  #followBody(raw: IncomingMessage): void {
    const watcher = this.#watcher;
    if (watcher === null || raw.complete || raw.destroyed) return;
    this.#watcher = null;
    watcher.bodyBegins(this.ip);
    const end = (): void => watcher.bodyEnds();
    raw.once("end", end).once("close", end);
    // A request whose body is not read to its end emits neither event, even when its connection closes.
    this.reply.raw.once("close", end);
  }

  /**
   * Node parses the body right after it has announced the request, so a body in the same packet is there one microtask
   * later. Reading it in one piece needs none of the events of a stream.
   */
  arrivedBody(): Buffer | null {
    const { raw, body } = this.request;
    const { readableLength } = raw;
    if (readableLength === 0 || body !== raw || raw.readableFlowing !== null || raw.destroyed) return null;
    // Without the interim response, Node closes the connection of a client that waits for it.
    if (Number(raw.headers["content-length"]) !== readableLength || waiting.has(raw)) return null;
    const whole = raw.read(readableLength) as Buffer | null;
    this.#isBodyRead = whole !== null;
    return whole;
  }

  get isGone(): boolean {
    const { raw } = this.reply;
    return raw.destroyed && !raw.writableFinished;
  }

  get isUnpacked(): boolean {
    const { raw, body } = this.request;
    return body instanceof Readable && body !== raw;
  }

  onAbort(abort: () => void): void {
    const { raw } = this.reply;
    if (raw.writableFinished) return;
    if (raw.destroyed) return abort();
    if (raw.socket === null) closeWithConnection(raw, this.request.raw.socket);
    // By the event, not by `writableFinished`, which an injected response never sets.
    raw.once("close", abort).once("finish", () => void raw.off("close", abort));
  }

  send(status: number, headers: Readonly<Record<string, string | readonly string[]>>, payload: Payload): void {
    const { reply } = this;
    reply.code(status);
    // The browser must use the content type, not guess it from the bytes.
    reply.header("x-content-type-options", "nosniff");
    for (const name in headers) reply.header(name, headers[name]);
    if (payload instanceof Readable) streaming.set(reply, Object.keys(headers));
    const isDropped = !this.#isBodyRead && dropUnreadBody(this.request.raw, reply.raw);
    if (this.#engine.isClosing || isDropped) reply.header("connection", "close");
    void (payload === null ? reply.send() : reply.send(payload));
    const { raw } = reply;
    if (raw.socket instanceof Socket && (!raw.writableEnded || raw.socket.writableLength > 0))
      unreadResponses.add(
        raw,
        payload === null || payload instanceof Readable ? 0 : payload.length,
        addressBucket(this.ip),
      );
  }

  breakOff(cause: unknown): boolean {
    if (!this.reply.raw.headersSent) return false;
    this.cut(new Error("the response was cut off because its stream failed", { cause }));
    return true;
  }

  cut(error: unknown): void {
    const { raw } = this.reply;
    // Only the caller of `inject` can receive the reason. On a connection Node would treat an error as a client error.
    raw.destroy(raw.socket instanceof Socket ? undefined : (error as Error));
  }
}

class FastifyUpgrade extends DelegatedExchange {
  protected inner: HttpExchange;
  #pending: (PendingUpgrade & Pick<FastifyExchange, "request" | "reply">) | null;

  constructor(engine: Engine, request: FastifyRequest, reply: FastifyReply, pending: PendingUpgrade) {
    super();
    this.inner = new FastifyExchange(engine, request, reply);
    this.#pending = { ...pending, request, reply };
  }

  async accept(options: AcceptOptions): Promise<RawSocket> {
    if (this.#pending === null) throw new Error("the socket has already been accepted");
    const { request, reply, socket, release } = this.#pending;
    reply.hijack();
    reply.raw.detachSocket(socket as never);
    release();
    const accepting = acceptUpgrade(request.raw, this.#pending, options);
    this.#pending = null;
    const accepted = await accepting;
    this.inner = new AcceptedExchange(this.inner);
    return accepted;
  }
}

/**
 * Routes an upgrade like any other request, through the same router and hooks.
 *
 * An upgrade that is pipelined behind a request whose response is still pending does not become a socket. It is served in turn
 * as a plain request, which RFC 9110 section 7.8 allows, and the connection is closed after it. So two responses never mix, and
 * no WebSocket client pipelines its handshake.
 */
export function routeUpgrade(
  fastify: FastifyInstance,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer | null,
  started?: Promise<void>,
): void {
  // Two applications in one server both listen for upgrades, and the router has the routes of both.
  if (upgrades.has(request)) return;
  upgrades.set(request, null);
  // This must happen synchronously: Node no longer listens, and an unhandled error event would end the process.
  socket.on("error", ignore);
  const release = takeOver(fastify.server, socket);
  const respond = (): void =>
    contain(fastify.log, socket, async () => {
      await started;
      respondTo(fastify, request, socket);
    });
  if (pendingResponse(socket) !== null) return afterResponses(socket, respond);
  if (head !== null) upgrades.set(request, { socket, head, release });
  respond();
}

function respondTo(fastify: FastifyInstance, request: IncomingMessage, socket: Duplex): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never);
  response.on("finish", () =>
    contain(fastify.log, socket, () => {
      response.detachSocket(socket as never);
      cutSoon(socket);
    }),
  );
  fastify.routing(request, response);
}

/**
 * Ends the connection of a rejected upgrade. Node no longer tracks it: a client that keeps its half open would block it, and
 * the shutdown of the process, indefinitely. Cutting it at once, with unread bytes, would lose the response.
 */
function cutSoon(socket: Duplex): void {
  socket.end();
  socket.resume();
  const cutting = setTimeout(() => socket.destroy(), CUT_MS).unref();
  socket.once("close", () => clearTimeout(cutting));
}

/**
 * A connection that breaks before it is accepted or rejected is not an error. The function is defined here because a closure
 * would keep the whole response in memory.
 */
function ignore(): void {}

/** Node checks for slow clients only this often. With its default of 30 s, a limit of 10 s would be one of 40 s. */
function checkInterval({ headersTimeoutMs, requestTimeoutMs }: EngineOptions): number {
  return Math.max(100, Math.min(headersTimeoutMs, requestTimeoutMs) / 4);
}

function ownLogger(options: Exclude<EngineOptions["logger"], Logger>): NonNullable<FastifyServerOptions["logger"]> {
  // Fastify's type expects an Error, but any other thrown value passes through as it is.
  return options === false ? false : { ...options, serializers: { err: errorSerializer as never } };
}

function isLogger(value: EngineOptions["logger"]): value is Logger {
  return typeof value === "object" && "child" in value;
}
