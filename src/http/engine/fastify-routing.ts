import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { Payload, RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import { methodFinder, withHead } from "../routing/method-finder.ts";
import { clientAddress } from "./client-address.ts";
import {
  badUrl,
  type EngineApp,
  type ReadRoute,
  ROUTER,
  routesOf,
  segmentTooLong,
  serveInOrder,
} from "./engine-app.ts";
import { hostName } from "./host-name.ts";
import { type ExchangeHost, type Match, NodeExchange, type ResponseHeaders } from "./node-exchange.ts";
import { OpenUpgrade, pendingUpgrade } from "./route-upgrade.ts";
import type { SenderFacts } from "./sender-of.ts";
import { describesBody, hasBody } from "./write-response.ts";

/** The routes as a Fastify plugin, so that other plugins apply to them. With `ownsPaths` it also handles unknown paths. */
export function fastifyRouting(
  app: EngineApp,
  host: ExchangeHost,
  { ownsPaths }: { readonly ownsPaths: boolean },
): FastifyPluginAsync {
  return async (fastify) => {
    await fastify.register(async (scope) => {
      // The body is read after the gate, by our own size-limited reader, so no parser runs before.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
      scope.setErrorHandler((error: Error, request, reply) => refuse(host, request, reply, app.serveRefusal, error));
      if (ownsPaths) {
        const methods = methodFinder(app, ROUTER);
        scope.setNotFoundHandler((request, reply) =>
          app.serveNothing(exchangeOf(host, request, reply, app.serveRefusal), methods(request.url)),
        );
      } else answerOptions(scope, app, host);
      for (const route of routesOf(app)) addRoute(scope, route, host);
    });
  };
}

function addRoute(scope: FastifyInstance, route: ReadRoute, host: ExchangeHost): void {
  scope.route({
    method: route.method,
    url: route.path,
    handler: (request, reply) => {
      const exchange = exchangeOf(host, request, reply, route.refuse);
      if (route.serveUpgrade !== undefined) {
        const pending = pendingUpgrade(request.raw);
        if (pending !== null)
          return route.serveUpgrade(new OpenUpgrade(exchange, request.raw, pending, () => reply.hijack().raw));
      }
      serveInOrder(request.raw, reply.raw, exchange, route);
    },
    errorHandler: (error: Error, request, reply) => refuse(host, request, reply, route.refuse, error),
  });
}

/** In another Fastify application unknown paths are not ours, but preflights for our routes are. */
function answerOptions(scope: FastifyInstance, app: EngineApp, host: ExchangeHost): void {
  const byPath = Map.groupBy(app.routes, ({ path }) => path);
  for (const [path, routes] of byPath) {
    const allowed = routes.map(({ method }) => method);
    if (allowed.includes("OPTIONS")) continue;
    scope.options(path, (request, reply) =>
      app.serveNothing(exchangeOf(host, request, reply, app.serveRefusal), withHead(allowed)),
    );
  }
}

/** Responds to an error of Fastify, of a plugin or of a stream that failed before its first byte. */
export function refuse(
  host: ExchangeHost,
  request: FastifyRequest,
  reply: FastifyReply,
  respond: Match["refuse"],
  error: Error,
): void {
  // The client disconnected before the first byte of its stream, so it cannot read a response.
  if (streaming.has(reply) && reply.raw.destroyed) return;
  // For a stream that failed before its first byte, headers from the handler are removed and headers from plugins stay.
  for (const name of streaming.get(reply) ?? []) {
    reply.removeHeader(name);
    reply.raw.removeHeader(name);
  }
  respond(exchangeOf(host, request, reply, respond), ownError(error));
}

/** Converts an error of Fastify or a plugin. Only client errors and 503 are sent to the client. */
function ownError(error: Error & { readonly statusCode?: number; readonly code?: string }): Error {
  const { statusCode = 500, code, message } = error;
  if (code === "FST_ERR_BAD_URL") return badUrl();
  if (statusCode === 414) return segmentTooLong();
  // Plugins that shed load, such as @fastify/under-pressure, set `retry-after` themselves.
  const isAnswer = (statusCode >= 400 && statusCode < 500) || statusCode === 503;
  return isAnswer ? new HttpException(statusCode, message, { cause: error }) : error;
}

function exchangeOf(
  host: ExchangeHost,
  request: FastifyRequest,
  reply: FastifyReply,
  refuse: Match["refuse"],
): FastifyExchange {
  return new FastifyExchange(host, request, reply, refuse);
}

/** The headers of streamed responses. */
const streaming = new WeakMap<FastifyReply, readonly string[]>();

/** A request and its response behind the hooks of Fastify's plugins. */
class FastifyExchange extends NodeExchange {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(host: ExchangeHost, request: FastifyRequest, reply: FastifyReply, refuse: Match["refuse"]) {
    const { raw, params, query } = request;
    super(host, raw, reply.raw, { params: params as RawPath, query: query as RawQuery, refuse });
    this.#request = request;
    this.#reply = reply;
  }

  override get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  /** By the trusted proxies of the application that these routes are registered in. */
  protected override readSender(): SenderFacts {
    const { ip, host, protocol, headers, raw } = this.#request;
    return { ip: clientAddress(ip, raw.socket.remoteAddress), host: hostName(host, headers.host), protocol };
  }

  protected override get bodyStream(): Readable {
    const { body, raw } = this.#request;
    return body instanceof Readable ? body : raw;
  }

  protected override write(status: number, headers: ResponseHeaders, payload: Payload, isLast: boolean): void {
    const reply = this.#reply;
    reply.code(status);
    // The browser must use the content type, not guess it from the bytes.
    reply.header("x-content-type-options", "nosniff");
    const isDropped = payload !== null && !hasBody(status);
    for (const name in headers) if (!isDropped || !describesBody(name)) reply.header(name, headers[name]);
    if (payload instanceof Readable) streaming.set(reply, Object.keys(headers));
    if (isLast) reply.header("connection", "close");
    // Fastify would read the stream to its end, which an endless one does not have.
    if (isDropped && payload instanceof Readable) payload.destroy();
    if (payload === null || isDropped) reply.send();
    else reply.send(payload);
  }
}
