import { setTimeout as sleep } from "node:timers/promises";
import { inBackground } from "../../core/work/in-background.ts";
import type { AppServices } from "../../kernel/context/app-services.ts";
import { HttpContext } from "../../kernel/context/http-context.ts";
import {
  HttpException,
  MethodNotAllowed,
  NotFound,
  ServiceUnavailable,
} from "../../kernel/exceptions/http-exception.ts";
import type { HttpExchange, UpgradeExchange } from "../../kernel/exchange/exchange.ts";
import { observationOf } from "../../kernel/hooks/request-hooks.ts";
import { budgetOf } from "../../kernel/limits/budget.ts";
import { InFlight, inFlightOf } from "../../kernel/load/in-flight.ts";
import type { EngineApp } from "../engine/engine-app.ts";
import { compose } from "../routing/middleware.ts";
import type { Method, Route } from "../routing/route.ts";
import type { RouteTable } from "../routing/router.ts";
import { PrebuiltRefusal, type RefusedRoute } from "./prebuilt-refusal.ts";
import { respondToError } from "./respond.ts";
import { compileRoute, type RunRoute } from "./run-route.ts";
import { serve } from "./serve.ts";
import { compileSocket } from "./serve-socket.ts";

/** The defaults for routes. */
export interface ServerDefaults {
  readonly maxBody: number;
  readonly handlerMs: number;
  readonly arrivalMs: number;
  readonly graceMs: number;
}

/** Whether requests are accepted. While `draining` they still are, but readiness fails so that load balancers go elsewhere. */
export type ServerState = "open" | "draining" | "closing";

/** Turns a table of routes into the application that the engine runs, and shuts it down gracefully. */
export class Server {
  readonly #services: AppServices;
  readonly #defaults: ServerDefaults;
  /** Created once, because a stack trace costs more than the rest of a rejection. */
  readonly #overloaded: ServiceUnavailable;
  readonly #prebuilt: PrebuiltRefusal;
  #state: ServerState = "open";

  constructor(services: AppServices, defaults: ServerDefaults) {
    this.#services = services;
    this.#defaults = defaults;
    const { retryAfterSeconds } = services.load;
    this.#overloaded = new ServiceUnavailable("The server is overloaded", { code: "OVERLOADED", retryAfterSeconds });
    this.#prebuilt = new PrebuiltRefusal(services, this.#overloaded);
  }

  get state(): ServerState {
    return this.#state;
  }

  get isOverloaded(): boolean {
    return this.#services.load.isOverloaded;
  }

  /** `unguarded` routes respond regardless of load and state, because an orchestrator must reach an overloaded process. */
  engineApp({ middleware, routes, sockets }: RouteTable, unguarded: readonly Route[]): EngineApp {
    const nothing = compose<HttpContext>(middleware, (ctx) => {
      throw ctx.state.get(NOTHING_HERE);
    });
    return {
      routes: [
        ...routes.map((route) => this.#engineRoute(route, this.#inTurn(this.#serving(route), route))),
        ...unguarded.map((route) => this.#engineRoute(route, this.#serving(route))),
      ],
      sockets: sockets.map((route) => {
        const serveSocket = compileSocket(route);
        const serve = this.#inTurn(
          (exchange: UpgradeExchange) =>
            inBackground(serveSocket(this.#services, exchange, this.#defaults.graceMs), this.#services.log),
          route,
        );
        return { path: route.path, serve };
      }),
      serveNothing: (exchange, allowed) => this.#serveNothing(exchange, allowed, nothing),
      serveNoUpgrade: (exchange) => {
        this.#refuse(
          exchange,
          new HttpException(426, "This endpoint requires a WebSocket connection", {
            code: "UPGRADE_REQUIRED",
            headers: { upgrade: "websocket" },
          }),
        );
      },
      serveRefusal: (exchange, error) => this.#refuse(exchange, error),
    };
  }

  #engineRoute(route: Route, serve: (exchange: HttpExchange) => void): EngineApp["routes"][number] {
    const { method, path } = route;
    return { method, path, serve, refuse: (exchange, error) => this.#refuse(exchange, error, route) };
  }

  /** Serves a request or an upgrade in its turn, unless the load or the state of the process forbids it. */
  #inTurn<E extends HttpExchange>(serving: (exchange: E) => void, route: RefusedRoute): (exchange: E) => void {
    const { load } = this.#services;
    const take = (exchange: E, waitedMs: number): boolean => {
      const refusal = this.#refusal(exchange, waitedMs);
      if (refusal === null) serving(exchange);
      else this.#refuse(exchange, refusal, route);
      return refusal === null;
    };
    return (exchange) => {
      load.arrive();
      // The application's own requests do not come from the event loop, so they take no turns.
      if (exchange.isInjected) {
        take(exchange, 0);
        return;
      }
      const refusal = this.#refusal(exchange, load.expectedWaitMs);
      if (refusal !== null) return this.#refuse(exchange, refusal, route);
      const later = load.inTurn((waitedMs) => {
        // A client that has disconnected meanwhile gets nothing.
        if (waitedMs > 0) return !exchange.isGone && take(exchange, waitedMs);
        serving(exchange);
        return true;
      });
      // No caller is left to handle the error.
      later?.catch((error: unknown) => exchange.cut(error));
    };
  }

  #serving(route: Route): (exchange: HttpExchange) => void {
    const run = compileRoute(route, budgetOf.of(this.#services));
    const { maxBody, handlerMs, arrivalMs, graceMs } = this.#defaults;
    const limit = route.maxBody ?? maxBody;
    const options = {
      timeoutMs: route.timeoutSeconds === undefined ? handlerMs : route.timeoutSeconds * 1000,
      arrivalMs,
      graceMs,
    };
    return (exchange) => {
      const ctx = this.#context(exchange, limit, route);
      const observation = observationOf.of(ctx);
      if (observation === null) serve(ctx, run, options);
      else observation.run(() => serve(ctx, run, options));
    };
  }

  #serveNothing(exchange: HttpExchange, allowed: readonly Method[], nothing: RunRoute): void {
    const ctx = this.#context(exchange, this.#defaults.maxBody);
    if (exchange.method !== "OPTIONS" || allowed.length === 0) {
      const isAllowed = allowed.length === 0 || allowed.includes(exchange.method as Method);
      ctx.state.set(NOTHING_HERE, isAllowed ? new NotFound() : new MethodNotAllowed(exchange.method, allowed));
      return serve(ctx, nothing, { ...this.#defaults, timeoutMs: 0 });
    }
    // A preflight carries no credentials, so no middleware runs for it.
    serve(
      ctx,
      ({ outgoing }) => {
        outgoing.header("allow", [...allowed, "OPTIONS"].join(", "));
        for (const [name, value] of Object.entries(this.#services.origins.preflight(exchange, allowed) ?? {}))
          outgoing.header(name, value);
        outgoing.empty();
      },
      { timeoutMs: 0, arrivalMs: 0, graceMs: 0 },
    );
  }

  #refusal({ headers, isInjected }: HttpExchange, waitedMs: number): ServiceUnavailable | null {
    const { load } = this.#services;
    const hasCredential =
      headers.authorization !== undefined || headers.cookie !== undefined || headers["x-api-key"] !== undefined;
    if (this.#state === "closing")
      return new ServiceUnavailable("The server is shutting down", { code: "SHUTTING_DOWN" });
    const isTaken = isInjected ? !load.isOverloaded : load.admits(hasCredential, waitedMs);
    return isTaken ? null : this.#overloaded;
  }

  #refuse(exchange: HttpExchange, error: Error, route?: RefusedRoute): void {
    if (error === this.#overloaded && route !== undefined && this.#prebuilt.send(exchange, route)) return;
    inBackground(respondToError(this.#context(exchange, 0, route), error), this.#services.log);
  }

  #context(exchange: HttpExchange, maxBody: number, route?: RefusedRoute): HttpContext {
    const ctx = new HttpContext(this.#services, exchange, maxBody);
    const inFlight = new InFlight(this.#services.load);
    inFlightOf.put(ctx, inFlight);
    exchange.watchBody(inFlight);
    if (route !== undefined) ctx.pattern = route.path;
    if (route?.renderError !== undefined) ctx.renderError = route.renderError;
    const { requestHooks } = this.#services;
    // An error response that replaces a failed one has another context, but hooks are called once.
    observationOf.put(ctx, requestHooks.observationOf(exchange) ?? requestHooks.observe(ctx));
    return ctx;
  }

  start(): void {
    this.#services.load.start();
  }

  stop(): void {
    this.#services.load.stop();
    this.#services.connections.stop();
  }

  /** Readiness returns 503 at once; after the delay new requests are rejected. */
  async drain(delayMs: number): Promise<void> {
    this.#state = "draining";
    if (delayMs > 0) await sleep(delayMs);
    this.#state = "closing";
  }

  /** Closes sockets and streams at random moments within the window, so that clients do not reconnect all at once. */
  async closeSockets(windowMs: number): Promise<void> {
    this.#state = "closing";
    await this.#services.connections.leave(windowMs);
  }

  /** Cuts the connections of clients that do not respond. */
  cutSockets(): void {
    this.#services.connections.cut();
  }
}

/** The key for the reason why there is no route, which the innermost layer throws. */
const NOTHING_HERE = Symbol("nothing here");
