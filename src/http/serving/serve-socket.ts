import { isInstance } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { inBackground } from "../../core/work/in-background.ts";
import { admission } from "../../kernel/access/gate-of.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import { WebSocketContext } from "../../kernel/context/http-context.ts";
import { logFailure } from "../../kernel/context/log-failure.ts";
import { endMemos } from "../../kernel/context/memo-of.ts";
import { OriginRefused } from "../../kernel/exceptions/http-exception.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import { ClientGone, type UpgradeExchange } from "../../kernel/exchange/exchange.ts";
import { observationOf } from "../../kernel/hooks/request-hooks.ts";
import { checkCredential } from "../../kernel/identity/check-credential.ts";
import type { Identity } from "../../kernel/identity/identity.ts";
import type { EndReason, OpenConnection } from "../../kernel/identity/open-connection.ts";
import { budgetOf } from "../../kernel/limits/budget.ts";
import type { Charge } from "../../kernel/limits/charge.ts";
import { ServerSocket } from "../messages/server-socket.ts";
import { compose } from "../routing/middleware.ts";
import type { SocketRoute } from "../routing/socket-route.ts";
import { expecting, requestReader } from "./request-reader.ts";
import { closeQuietly, respondToError } from "./respond.ts";
import { withHeaders } from "./with-headers.ts";

/** Serves one upgrade from its request to the end of its socket. */
export type ServeSocket = (services: AppServices, exchange: UpgradeExchange, graceMs: number) => Promise<void>;

/**
 * Authenticates the caller of an open socket again: runs the middleware of the route over the request with these headers, and
 * returns the new context. Rejects with the error of the middleware.
 */
export type Readmit = (headers: Readonly<Record<string, string>>) => Promise<WebSocketContext>;
/** Registers a check that runs whenever the credential of the socket is rechecked. */
export type OnRecheck = (recheck: () => Promise<void>) => void;

/** The units that an upgrade takes from the budget of its caller. */
const UPGRADE_COST = 1;

/**
 * Compiles a socket route: its middleware around its gate, schemas and dependencies, all before the upgrade, so that a
 * rejection is a readable HTTP response. Dependencies live until the socket is closed.
 */
export function compileSocket(route: SocketRoute): ServeSocket {
  const { auth, params, schemas, handler, accept, limits, admission: later } = route;
  const read = requestReader(schemas);
  const letIn = admission(auth);
  const around = [...(later?.atUpgrade ?? []), ...route.middleware];

  return function serveSocket(services, exchange, graceMs) {
    const ctx = new WebSocketContext(services, exchange, accept.maxMessageBytes);
    if (route.renderError !== undefined) ctx.renderError = route.renderError;
    ctx.pattern = route.path;
    const observation = services.requestHooks.observe(ctx);
    observationOf.put(ctx, observation);
    const whole = compose<WebSocketContext>(around, (inner) => converse(inner, exchange, graceMs));
    const run = expecting(schemas, whole);
    const serve = (): Promise<void> =>
      runToEnd(
        ctx,
        async () => {
          // A page of a foreign origin could open a socket with the visitor's cookies, because CORS does not apply to sockets.
          if (services.origins.provenance(exchange) === "foreign")
            throw new OriginRefused(exchange.headers.origin ?? "of this page");
          await run(ctx);
        },
        async (error) => {
          if (!isInstance(error, ClientGone)) await respondToError(ctx, error);
        },
      );
    return observation === null ? serve() : observation.run(serve);
  };

  async function converse(ctx: WebSocketContext, exchange: UpgradeExchange, graceMs: number): Promise<void> {
    const declared: Record<string, unknown> = {};
    const budget = budgetOf.of(ctx.services);
    let charge = null as Charge | null;
    let socket: ServerSocket;
    try {
      if (later !== undefined) checkCredential(ctx.identity);
      else
        await letIn(
          ctx,
          async () => {
            // On the socket of a GraphQL endpoint, each operation is charged for itself.
            charge = budget === null ? null : await budget.reserve(ctx, UPGRADE_COST);
          },
          () => read?.(ctx),
        );
      charge?.use(UPGRADE_COST);
      if (params.length > 0) await ctx.dependencies.fill(params, declared);
      const raw = await exchange.accept(accept);
      // Each message is a separate question.
      socket = new ServerSocket(raw, limits, ctx.services.clock, addressBucket(exchange.ip), () => endMemos(ctx));
    } finally {
      charge?.end();
    }
    ctx.open(socket);
    abortAtEnd(ctx, socket);
    observationOf.of(ctx)?.socketOpened();
    inBackground(
      socket.closed.then(() => observationOf.of(ctx)?.socketClosed()),
      ctx.log,
    );
    const connection = new SocketConnection(ctx, socket);
    ctx.services.connections.add(connection);
    try {
      const readmit: Readmit = async (headers) => {
        connection.ctx = await admit(ctx.services, withHeaders(exchange, headers), socket);
        ctx.services.connections.identified(connection);
        return connection.ctx;
      };
      const onRecheck: OnRecheck = (recheck) => {
        connection.alsoRecheck = recheck;
      };
      const request = ctx.incoming;
      const { params: path, query } = request;
      const ambient = { ctx, context: ctx, socket, user: ctx.user, path, query, request };
      // The operations of a GraphQL endpoint check theirs themselves.
      if (later === undefined) socket.fault = () => ctx.forgottenCheck;
      const args = later === undefined ? { ...ambient, ...declared } : { ctx, socket, gate: auth, readmit, onRecheck };
      await withGrace(handler(args), socket.closed, graceMs);
      const forgotten = ctx.forgottenCheck;
      if (forgotten !== null) throw forgotten;
      socket.close();
    } catch (error) {
      socket.close(1011, "internal error");
      throw error;
    } finally {
      await socket.closed;
    }
  }

  /** The middleware stays active until the socket is closed, as at the upgrade. */
  function admit(services: AppServices, exchange: UpgradeExchange, socket: ServerSocket): Promise<WebSocketContext> {
    const ctx = new WebSocketContext(services, exchange, accept.maxMessageBytes);
    ctx.pattern = route.path;
    const { promise, resolve, reject } = Promise.withResolvers<WebSocketContext>();
    const run = compose<WebSocketContext>(route.middleware, async (inner) => {
      inner.open(socket);
      abortAtEnd(inner, socket);
      resolve(inner);
      await socket.closed;
    });
    inBackground(
      runToEnd(ctx, () => run(ctx), reject),
      ctx.log,
    );
    return promise;
  }
}

/** Runs a context from its middleware to the end of its socket; `refuse` receives an error from before the socket was open. */
function runToEnd(
  ctx: WebSocketContext,
  run: () => MaybePromise<void>,
  refuse: (error: unknown) => MaybePromise<void>,
): Promise<void> {
  return withContext(ctx, async () => {
    try {
      await run();
      if (!ctx.isOpen) throw new Error("a middleware neither refused the socket nor called next()");
      ctx.settle("success");
    } catch (error) {
      ctx.settle("failure");
      if (ctx.isOpen) logFailure(ctx.services, ctx.exchange, error);
      else await refuse(error);
    } finally {
      await closeQuietly(ctx);
    }
  });
}

/** A handler that does not notice the end of the socket keeps its dependencies for the grace time. */
async function withGrace(handled: unknown, closed: Promise<void>, graceMs: number): Promise<void> {
  const over = Promise.withResolvers<void>();
  let isHandled = false;
  let timer: NodeJS.Timeout | undefined;
  inBackground(
    closed.then(() => {
      if (!isHandled) timer = setTimeout(over.resolve, graceMs).unref();
    }),
  );
  try {
    await Promise.race([handled, over.promise]);
  } finally {
    // Otherwise the timer would keep everything of the socket in memory.
    isHandled = true;
    clearTimeout(timer);
  }
}

function abortAtEnd(ctx: WebSocketContext, socket: ServerSocket): void {
  inBackground(
    socket.closed.then(() => ctx.abort(new DOMException("The socket is closed", "AbortError"))),
    ctx.log,
  );
}

/** RFC 6455 section 7.4.1; GraphQL clients reconnect with another credential after 4403. */
const CLOSE: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  expired: [4403, "the credential has expired"],
  revoked: [4403, "the credential was revoked"],
  leaving: [1001, "Going away"],
};

/** A socket in the list of open connections. */
class SocketConnection implements OpenConnection {
  /** Replaced when a credential arrives after the upgrade. */
  ctx: WebSocketContext;
  /** Checks everything that runs on it. */
  alsoRecheck?: () => Promise<void>;
  readonly #socket: ServerSocket;

  constructor(ctx: WebSocketContext, socket: ServerSocket) {
    this.ctx = ctx;
    this.#socket = socket;
  }

  get identity(): Identity {
    return this.ctx.identity;
  }
  get ended(): Promise<void> {
    return this.#socket.closed;
  }
  beat(now: number): void {
    this.#socket.beat(now);
  }
  async recheck(): Promise<void> {
    endMemos(this.ctx);
    await this.alsoRecheck?.();
  }
  end(reason: EndReason): void {
    this.#socket.close(...CLOSE[reason]);
  }
  cut(): void {
    this.#socket.terminate();
  }
}
