import type { IncomingMessage, ServerResponse } from "node:http";
import findMyWay from "find-my-way";
import type { HttpExchange, RawPath, RawQuery } from "../../kernel/exchange/exchange.ts";
import { methodFinder } from "../routing/method-finder.ts";
import {
  badUrl,
  type EngineApp,
  type ReadRoute,
  ROUTER,
  routesOf,
  segmentTooLong,
  serveInOrder,
} from "./engine-app.ts";
import { type ExchangeHost, NodeExchange } from "./node-exchange.ts";
import { OpenUpgrade, pendingUpgrade } from "./route-upgrade.ts";

/** Serves one request of Node's server. */
export type Routing = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Routes requests without Fastify, for an application that has none of its plugins: with Fastify, a small request costs about
 * a fifth more. The router is the one that Fastify uses too.
 */
export function directRouting(app: EngineApp, host: ExchangeHost): Routing {
  const methods = methodFinder(app, ROUTER);
  const router = findMyWay({
    ...ROUTER,
    defaultRoute: (request: IncomingMessage, response: ServerResponse) =>
      app.serveNothing(unmatched(request, response), methods(request.url as string)),
    onBadUrl: (_path: string, request: IncomingMessage, response: ServerResponse) =>
      app.serveRefusal(unmatched(request, response), badUrl()),
    onMaxParamLength: (_path: string, request: IncomingMessage, response: ServerResponse) =>
      app.serveRefusal(unmatched(request, response), segmentTooLong()),
  });
  const routes = routesOf(app);
  for (const route of routes) router.on(route.method, route.path, handlerOf(route));
  // A GET route also serves HEAD.
  for (const route of routes.filter(({ method }) => method === "GET")) router.on("HEAD", route.path, handlerOf(route));
  const fixed = fixedPaths(routes, handlerOf);
  return (request, response) => {
    const handle = fixed.get(request.method as string)?.get(request.url as string);
    if (handle === undefined) router.lookup(request, response);
    else handle(request, response, nothing(), null, nothing());
  };

  function unmatched(request: IncomingMessage, response: ServerResponse): HttpExchange {
    return new NodeExchange(host, request, response, { params: {}, query: {}, refuse: app.serveRefusal });
  }

  function handlerOf(route: ReadRoute): Handler {
    const { serveUpgrade, refuse } = route;
    return (request, response, params, _store, query) => {
      const match = { params: params as RawPath, query: query as RawQuery, refuse };
      const exchange = new NodeExchange(host, request, response, match);
      try {
        if (serveUpgrade !== undefined) {
          const pending = pendingUpgrade(request);
          if (pending !== null) return serveUpgrade(new OpenUpgrade(exchange, request, pending, () => response));
        }
        serveInOrder(request, response, exchange, route);
      } catch (error) {
        refuse(exchange, error as Error);
      }
    };
  }
}

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Record<string, string | undefined>,
  store: unknown,
  query: Record<string, string>,
) => void;

/** A path without parameters, in which a URL encodes no character. */
const FIXED_PATH = /^[\w./~-]*$/;

/**
 * The handlers of fixed paths, by method and path. For the router such a path comes before all others too, but finding it
 * costs several times as much.
 */
function fixedPaths(
  routes: readonly ReadRoute[],
  handlerOf: (route: ReadRoute) => Handler,
): ReadonlyMap<string, ReadonlyMap<string, Handler>> {
  const byMethod = new Map<string, Map<string, Handler>>();
  for (const route of routes) {
    if (!FIXED_PATH.test(route.path)) continue;
    const { method, path } = route;
    byMethod.set(method, (byMethod.get(method) ?? new Map<string, Handler>()).set(path, handlerOf(route)));
  }
  return byMethod;
}

/** The parameters of a path, or of a query, that has none. */
function nothing(): Record<string, string> {
  return { __proto__: null } as never;
}
