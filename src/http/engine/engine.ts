import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Readable } from "node:stream";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import type { InjectOptions, Response as LightResponse } from "light-my-request";
import { errorSerializer } from "../../core/log/error-serializer.ts";
import { type LogOutput, standardOutput } from "../../core/log/log-output.ts";
import type { Logger } from "../../core/logger.ts";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { containErrors } from "./contain-errors.ts";
import { directRouting, type Routing } from "./direct-routing.ts";
import { type EngineApp, ROUTER } from "./engine-app.ts";
import { fastifyRouting, refuse } from "./fastify-routing.ts";
import { HostExchange, type HostRequest, type HostResponse } from "./host-exchange.ts";
import { joinPipeline } from "./join-pipeline.ts";
import { type ListenOptions, listenFailure } from "./listen-options.ts";
import { malformedRequest } from "./malformed-request.ts";
import { type ExchangeHost, waitingForContinue } from "./node-exchange.ts";
import { routeUpgrade } from "./route-upgrade.ts";
import { type SenderOf, senderReader } from "./sender-of.ts";
import { cutHandedOver } from "./take-over.ts";

export type { FastifyInstance, FastifyPluginAsync };

// `docs/guide/hardening.md` lists what this folder hardens, and why.

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

/** How often idle connections are closed during shutdown. */
const CLOSE_IDLE_MS = 100;

/**
 * Fastify's server and life cycle. Requests go through Fastify's router and hooks only if the application has taken
 * `fastify` before it starts, because only then can there be plugins. Otherwise they are routed directly.
 */
export class Engine implements ExchangeHost, Part {
  readonly senderOf: SenderOf;
  readonly #fastify: FastifyInstance;
  #isClosing = false;
  #isFastifyTaken = false;
  readonly #connections = new Set<Socket>();
  #app: EngineApp | null = null;
  #routing: Routing;
  /** Where the log goes; `null` if the application has its own. */
  readonly #output: LogOutput | null;

  constructor(options: EngineOptions) {
    const { logger } = options;
    this.#output = logger === false || isLogger(logger) || logger.stream !== undefined ? null : standardOutput();
    this.senderOf = senderReader(options.trustedProxies);
    this.#fastify = Fastify({
      // The type asks for all of pino, but Fastify only calls the methods that `Logger` has.
      ...(isLogger(logger)
        ? { loggerInstance: logger as unknown as FastifyBaseLogger }
        : { logger: ownLogger(logger) }),
      logController: new LogController({ disableRequestLogging: true }),
      trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
      // Node only accepts whole numbers.
      requestTimeout: Math.ceil(options.requestTimeoutMs),
      keepAliveTimeout: Math.ceil(options.keepAliveTimeoutMs),
      http: {
        headersTimeout: Math.ceil(options.headersTimeoutMs),
        connectionsCheckingInterval: checkInterval(options),
        shouldUpgradeCallback: (request) => this.#isUpgrade(request),
      },
      routerOptions: ROUTER,
      // Our own routes respond while closing, in the format of any other rejection.
      return503OnClosing: false,
      frameworkErrors: (error, request, reply) => this.#refuse(error, request as FastifyRequest, reply as FastifyReply),
      clientErrorHandler: (error, socket) => containErrors(this.log, socket, () => malformedRequest(error, socket)),
    });
    const { server } = this.#fastify;
    this.#routing = (request, response) => this.#fastify.routing(request, response);
    // Fastify's own listener is removed, because nothing would catch its errors.
    server.removeAllListeners("request").on("request", (request, response) => this.#route(request, response));
    server.on("connection", (socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  get log(): Logger {
    return this.#fastify.log;
  }
  get server(): FastifyInstance["server"] {
    return this.#fastify.server;
  }

  *figures(): Iterable<Figure> {
    yield { series: "portico_connections_open", labels: [], value: this.#connections.size };
    if (this.#output !== null) yield* this.#output.figures();
  }

  /** Fastify, for plugins. */
  get fastify(): FastifyInstance {
    this.#isFastifyTaken = true;
    return this.#fastify;
  }

  /** Registers the application. Fastify plugins that were registered before wrap its routes. */
  start(app: EngineApp): void {
    this.#app = app;
    if (this.#isFastifyTaken)
      this.#fastify.register(async (scope) => {
        await fastifyRouting(app, this, { ownsPaths: true })(scope, {});
      });
    else this.#routing = directRouting(app, this);
    const { server } = this;
    // A client that waits for `100 Continue` gets it when a handler reads the body, so the gate comes first.
    server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      waitingForContinue.set(request, response);
      this.#route(request, response);
    });
    // Without a listener Node closes the connection, and with it the responses that are still pending on it.
    server.on("connect", (request, socket) => routeUpgrade(this, request, socket, null));
    if (app.sockets.length > 0)
      server.on("upgrade", (request, socket, head) => routeUpgrade(this, request, socket, head));
  }

  /** The routes as a plugin of another Fastify application. */
  plugin(app: EngineApp): FastifyPluginAsync {
    return fastifyRouting(app, this, { ownsPaths: false });
  }

  /** A request that another server responds to. */
  hostExchange(request: HostRequest, response: HostResponse): HostExchange {
    return new HostExchange(this, request, response);
  }

  /** Routes a request of a server event. */
  #route(request: IncomingMessage, response: ServerResponse): void {
    containErrors(this.log, request.socket, () => this.routing(request, response));
  }

  /** Routes a request. An error that it throws is for the caller. */
  routing(request: IncomingMessage, response: ServerResponse): void {
    if (joinPipeline(request, response)) this.#routing(request, response);
  }

  /** Serves a request without a socket. */
  async inject(request: InjectRequest): Promise<InjectResponse> {
    const { method = "GET", url, headers = {}, body } = request;
    const answer = await this.light({
      method,
      url,
      headers,
      // Bytes in anything but a Buffer would be sent as JSON.
      ...(body === undefined ? {} : { payload: body instanceof Uint8Array ? Buffer.from(body) : body }),
    });
    return { status: answer.statusCode, headers: answer.headers as InjectResponse["headers"], body: answer.rawPayload };
  }

  /** Serves a request without a socket, with the options of light-my-request. */
  async light(options: InjectOptions): Promise<LightResponse> {
    // Only tests need it, so it is not loaded at startup.
    const { inject } = await import("light-my-request");
    return inject((request, response) => this.#routing(request, response), options);
  }

  async ready(): Promise<void> {
    await this.#fastify.ready();
  }

  async listen(options: ListenOptions): Promise<AddressInfo> {
    try {
      // Fastify changes the object.
      await this.#fastify.listen({ ...options });
    } catch (error) {
      throw listenFailure(error, options);
    }
    return this.server.address() as AddressInfo;
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
    const { server } = this;
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      cutHandedOver(server);
    }, deadlineMs);
    // A connection whose stream has just ended becomes idle only now, and would be kept until its keep-alive time ends.
    const idle = setInterval(() => {
      server.closeIdleConnections();
      this.#closeUnused();
    }, CLOSE_IDLE_MS);
    try {
      await this.#fastify.close();
    } finally {
      clearTimeout(deadline);
      clearInterval(idle);
    }
  }

  /** Browsers open connections in advance. For Node, one that has not sent anything is not idle. */
  #closeUnused(): void {
    for (const socket of this.#connections) if (socket.bytesRead === 0) socket.destroy();
  }

  /**
   * RFC 9110 section 7.8: a server that does not support the protocol continues as if there had been no upgrade. Some clients
   * offer HTTP/2 with every request. Node before 22.21 and 24.9 does not call this.
   */
  #isUpgrade({ method, headers }: IncomingMessage): boolean {
    const isSocket = method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
    return isSocket && this.server.listenerCount("upgrade") > 0;
  }

  #refuse(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (this.#app !== null) refuse(this, request, reply, this.#app.serveRefusal, error);
  }
}

/** Node checks for slow clients only this often. With its default of 30 s, a limit of 10 s would be one of 40 s. */
function checkInterval({ headersTimeoutMs, requestTimeoutMs }: EngineOptions): number {
  return Math.ceil(Math.max(100, Math.min(headersTimeoutMs, requestTimeoutMs) / 4));
}

function ownLogger(options: Exclude<EngineOptions["logger"], Logger>): NonNullable<FastifyServerOptions["logger"]> {
  // Fastify's type expects an Error, but any other thrown value passes through as it is.
  if (options === false) return false;
  return { stream: standardOutput(), ...options, serializers: { err: errorSerializer as never } };
}

function isLogger(value: EngineOptions["logger"]): value is Logger {
  return typeof value === "object" && "child" in value;
}
