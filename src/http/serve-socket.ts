import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketContext } from "./context.ts";
import { withContext } from "./current-context.ts";
import { OriginRefused } from "./exceptions.ts";
import type { UpgradeExchange } from "./exchange.ts";
import type { Host } from "./host.ts";
import { compose } from "./middleware.ts";
import { logFailure } from "./problem.ts";
import { closeQuietly, respond } from "./respond.ts";
import { checkPart } from "./run-route.ts";
import { ServerSocket } from "./socket.ts";
import type { SocketRoute } from "./socket-route.ts";

/** Serves one upgrade from its request to the end of its socket. */
export type ServeSocket = (host: Host, exchange: UpgradeExchange, graceMs: number) => Promise<void>;

/** The open sockets of an application, for its end. */
export type OpenSockets = Set<ServerSocket>;

/**
 * Compiles a socket route: its middleware around its gate, its schemas and its dependencies, all before the upgrade, so
 * that a refusal is a readable HTTP answer. Dependencies live until the socket's end.
 */
export function compileSocket(route: SocketRoute, open: OpenSockets): ServeSocket {
  const { auth, params, schemas, handler, accept, limits } = route;

  return function serveSocket(host, exchange, graceMs) {
    const ctx = new WebSocketContext(host, exchange, accept.maxMessageBytes);
    return withContext(ctx, async () => {
      try {
        await run(ctx);
        if (!ctx.isOpen) throw new Error("a middleware neither refused the socket nor called next()");
        ctx.settle("success");
      } catch (error) {
        ctx.settle("failure");
        if (!ctx.isOpen) await respond(ctx, error);
        else logFailure(host, exchange, error);
      } finally {
        await closeQuietly(ctx);
      }
    });

    async function run(context: WebSocketContext): Promise<void> {
      // A page of a foreign origin could open a socket with the visitor's cookies: CORS does not hold for sockets.
      if (host.origins.provenance(exchange) === "foreign")
        throw new OriginRefused(exchange.headers.origin ?? "of this page");
      await compose<WebSocketContext>(route.middleware, (inner) => converse(inner, exchange, graceMs))(context);
    }
  };

  async function converse(ctx: WebSocketContext, exchange: UpgradeExchange, graceMs: number): Promise<void> {
    if (auth !== undefined) await auth.check(ctx);
    const request = ctx.incoming;
    if (schemas.path !== undefined) request.accept("params", await checkPart(schemas.path, request.params, "path"));
    if (schemas.query !== undefined) request.accept("query", await checkPart(schemas.query, request.query, "query"));
    const declared: Record<string, unknown> = {};
    await ctx.dependencies.fill(params, declared);

    const socket = new ServerSocket(await exchange.accept(accept), limits);
    ctx.open(socket);
    open.add(socket);
    void socket.closed.then(() => {
      open.delete(socket);
      ctx.abort(new DOMException("The socket is closed", "AbortError"));
    });
    try {
      const ambient = {
        ctx,
        context: ctx,
        socket,
        user: ctx.user,
        path: request.params,
        query: request.query,
        request,
      };
      const handled = Promise.resolve(handler({ ...ambient, ...declared }));
      // A handler that does not notice the end keeps its dependencies for the grace time.
      await Promise.race([handled, socket.closed.then(() => sleep(graceMs, undefined, { ref: false }))]);
      socket.close();
    } catch (error) {
      socket.close(1011, "internal error");
      throw error;
    } finally {
      await socket.closed;
    }
  }
}
