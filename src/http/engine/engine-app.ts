import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import type { HttpExchange, UpgradeExchange } from "../../kernel/exchange/exchange.ts";
import type { Method } from "../routing/route.ts";
import { checkHost } from "./host-name.ts";
import { joinPipeline, runInOrder } from "./join-pipeline.ts";

/** The complete application, passed to the engine before it starts. */
export interface EngineApp {
  readonly routes: readonly (EngineRoute & { readonly method: Method })[];
  readonly sockets: readonly EngineSocket[];
  /** Responds when no route has this path with this method; `allowed` are the methods that the path has. */
  readonly serveNothing: (exchange: HttpExchange, allowed: readonly Method[]) => void;
  /** Responds when the path only has a socket and the request is not an upgrade. */
  readonly serveNoUpgrade: (exchange: HttpExchange) => void;
  /** Responds when a request was rejected before a route was found. */
  readonly serveRefusal: (exchange: HttpExchange, error: Error) => void;
}

/** A route as the engine sees it. */
export interface EngineRoute {
  readonly path: string;
  readonly serve: (exchange: HttpExchange) => void;
  /** Responds when the engine, or a plugin of its ecosystem, rejected a request for this route. */
  readonly refuse: (exchange: HttpExchange, error: Error) => void;
}

export interface EngineSocket {
  readonly path: string;
  readonly serve: (exchange: UpgradeExchange) => void;
}

/** The options of both routers. Paths may contain cursors and signed tokens, and the default of 100 characters would reject them. */
export const ROUTER = { ignoreTrailingSlash: true, maxParamLength: 8_192 } as const;

/** A path of the application for GET: its route, its socket, or both. */
export interface ReadRoute extends EngineRoute {
  readonly method: Method;
  readonly serveUpgrade: EngineSocket["serve"] | undefined;
}

/** The routes together with the sockets: a path that has both serves an upgrade by its socket. */
export function routesOf({ routes, sockets, serveNoUpgrade, serveRefusal }: EngineApp): readonly ReadRoute[] {
  const open = new Map(sockets.map((socket) => [socket.path, socket.serve]));
  const read = routes.map((route): ReadRoute => {
    const serveUpgrade = route.method === "GET" ? open.get(route.path) : undefined;
    if (serveUpgrade !== undefined) open.delete(route.path);
    return { ...route, serveUpgrade };
  });
  const others = [...open].map(
    ([path, serveUpgrade]): ReadRoute => ({
      method: "GET",
      path,
      serve: serveNoUpgrade,
      refuse: serveRefusal,
      serveUpgrade,
    }),
  );
  return [...read, ...others];
}

/** Serves a plain request in its turn on the connection, unless its headers or the connection forbid it. */
export function serveInOrder(
  request: IncomingMessage,
  response: ServerResponse,
  exchange: HttpExchange,
  { serve, refuse }: EngineRoute,
): void {
  // In another Fastify application, requests do not pass through `Engine.routing`.
  if (!joinPipeline(request, response)) return;
  const refusal = checkHost(request.headers.host, request.rawHeaders);
  if (refusal !== null) return refuse(exchange, refusal);
  runInOrder(request, response, () => serve(exchange));
}

/** The path cannot be decoded. */
export function badUrl(): HttpException {
  return new HttpException(400, "The path is not a valid URL", { code: "MALFORMED_URL" });
}

export function segmentTooLong(): HttpException {
  return new HttpException(414, "A path segment is too long");
}
