import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ConfigurationError } from "./core/configuration-error.ts";
import type { Logger } from "./core/logger.ts";
import type { MaybePromise } from "./core/maybe-promise.ts";
import { type Callable, callableOf, type Provider, type ProviderAmbient, type Unwrap } from "./dependencies/depend.ts";
import type { AppServices } from "./http/context/app-services.ts";
import { type ErrorClass, type ExceptionHandler, ExceptionHandlers } from "./http/context/exception-handlers.ts";
import type { BaseContext } from "./http/context/http-context.ts";
import { Load } from "./http/context/load.ts";
import { Origins } from "./http/context/origins.ts";
import { contain } from "./http/engine/contain.ts";
import {
  Engine,
  type FastifyInstance,
  type FastifyPluginAsync,
  type InjectRequest,
  type InjectResponse,
} from "./http/engine/engine.ts";
import type { EngineApp } from "./http/engine/engine-app.ts";
import { routeUpgrade } from "./http/engine/route-upgrade.ts";
import { Actors } from "./http/identity/actors.ts";
import { OpenConnections } from "./http/identity/open-connections.ts";
import { Paging } from "./http/pages/paging.ts";
import { checkPaths } from "./http/routing/check-paths.ts";
import { reportGates } from "./http/routing/report-gates.ts";
import { reportOverrides } from "./http/routing/report-overrides.ts";
import type { Route } from "./http/routing/route.ts";
import { Router, type RouteTable } from "./http/routing/router.ts";
import { type HealthOptions, healthRoutes } from "./http/serving/health-routes.ts";
import { Server } from "./http/serving/server.ts";
import { buildOpenApiDocument } from "./openapi/build-open-api-document.ts";
import type { OpenApiDocument } from "./openapi/open-api-document.ts";
import { openApiRoutes } from "./openapi/open-api-routes.ts";
import { type PorticoAppOptions, type ResolvedAppOptions, resolveAppOptions } from "./portico-app-options.ts";
import type { PubSub } from "./stores/pub-sub.ts";
import { closeStores, startStores, storeChecks } from "./stores/start-stores.ts";
import type { Stores } from "./stores/stores.ts";

/** Runs when the application starts or ends. */
export type LifeCycleHook = () => MaybePromise<unknown>;

/** A replacement for a dependency. It returns the same type, in any form that a dependency can have. */
export type Replacement<T> = (
  args: ProviderAmbient<BaseContext>,
) => MaybePromise<T> | Generator<T, unknown, unknown> | AsyncGenerator<T, unknown, unknown>;

/** The address of a listening application. */
export interface Address {
  readonly port: number;
  readonly host: string;
  readonly url: string;
}

/**
 * The application: routes, middleware and sockets, and the server that runs them.
 *
 * An invalid option throws `ConfigurationError` immediately.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * const app = new PorticoApp({ title: "Bookshop" });
 * app.get("/books/:id", ({ path }) => ({ id: path.id }));
 *
 * const { url } = await app.listen({ port: 3000 });
 * console.log(`listening on ${url}`);
 * ```
 */
export class PorticoApp extends Router {
  /** @internal */
  readonly actors: Actors;
  readonly #options: ResolvedAppOptions;
  readonly #engine: Engine;
  readonly #services: AppServices;
  readonly #server: Server;
  readonly #exceptionHandlers = new ExceptionHandlers();
  readonly #overrides = new Map<Callable, (args: object) => unknown>();
  readonly #startHooks: LifeCycleHook[] = [];
  readonly #closeHooks: LifeCycleHook[] = [];
  #table: RouteTable | null = null;
  #document: OpenApiDocument | null = null;
  #started: Promise<void> | null = null;
  #closed: Promise<void> | null = null;
  #address: Address | null = null;

  constructor(options: PorticoAppOptions = {}) {
    super();
    this.#options = resolveAppOptions(options);
    const { title, timeouts, publicUrl, logger, trustedProxies, origins, load, stores, clock, debug, cursorKeys } =
      this.#options;
    this.actors = new Actors(clock);
    this.#engine = new Engine({
      logger,
      trustedProxies,
      headersTimeoutMs: timeouts.headersSeconds * 1000,
      requestTimeoutMs: timeouts.requestSeconds * 1000,
      keepAliveTimeoutMs: timeouts.keepAliveSeconds * 1000,
    });
    this.#services = {
      stores,
      clock,
      debug,
      title,
      publicUrl,
      listensOn: () => this.#address?.url ?? null,
      log: this.#engine.log,
      origins: new Origins(origins, publicUrl),
      load: new Load(load),
      connections: new OpenConnections({
        clock,
        log: this.#engine.log,
        bus: stores.bus,
        recheckMs: timeouts.recheckSeconds * 1000,
      }),
      paging: new Paging(cursorKeys, this.#engine.log, publicUrl !== null),
      exceptionHandlers: this.#exceptionHandlers,
      overrides: this.#overrides,
      actors: this.actors,
    };
    this.#server = new Server(this.#services, {
      maxBody: this.#options.maxBody,
      handlerMs: timeouts.handlerSeconds * 1000,
      arrivalMs: timeouts.requestSeconds * 1000,
      graceMs: timeouts.graceSeconds * 1000,
    });
  }

  /** @internal */
  get stores(): Stores {
    return this.#services.stores;
  }

  /** @internal An application has its own server. */
  override get isMountable(): boolean {
    return false;
  }

  /**
   * The Fastify instance, for plugins of its ecosystem. Requests pass through Fastify only if this is used before the
   * application starts. It is not covered by Portico's semver guarantees.
   */
  get engine(): FastifyInstance {
    return this.#engine.fastify;
  }

  /** @internal The engine, once the application has started. */
  async started(): Promise<Engine> {
    await this.#start();
    return this.#engine;
  }

  /** The logger, as it was passed in or created. */
  get log(): Logger {
    return this.#engine.log;
  }

  /** Events between processes, for use outside requests. Inside a request, `ctx.pubsub` waits for the transaction. */
  get pubsub(): PubSub {
    return this.#services.stores.bus;
  }

  /** A Node request handler, for Express, Nest and `http.createServer`. Do not put a body parser before it. */
  get handler(): (request: IncomingMessage, response: ServerResponse) => void {
    return (request, response) =>
      contain(this.log, request.socket, async () => {
        await this.#start();
        this.#server.start();
        this.#engine.routing(request, response);
      });
  }

  /** The WebSocket counterpart of `handler`: `server.on("upgrade", app.upgradeHandler)`. */
  get upgradeHandler(): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
    return (request, socket, head) => routeUpgrade(this.#engine, request, socket, head, this.#start());
  }

  /**
   * For an existing Fastify application: `fastify.register(app.plugin(), { prefix: "/api" })`. That application sets the server
   * options, such as trusted proxies and timeouts, and serves the health routes.
   */
  plugin(): FastifyPluginAsync {
    const app = this.#engineApp([]);
    return async (fastify) => {
      await this.#engine.plugin(app)(fastify, {});
      if (app.sockets.length > 0) {
        if (fastify.hasDecorator("websocketServer"))
          throw new ConfigurationError(
            "PorticoApp.plugin",
            "has socket routes: it cannot share a server with @fastify/websocket",
          );
        fastify.server.on("upgrade", (request, socket, head) => routeUpgrade(fastify, request, socket, head));
      }
      fastify.addHook("onReady", async () => {
        this.#server.start();
        await this.#runStartHooks();
      });
      fastify.addHook("preClose", () => this.#server.closeSockets(0));
      fastify.addHook("onClose", async () => {
        this.#server.stop();
        await this.#runCloseHooks();
      });
    };
  }

  /**
   * Turns errors of a class, and of its subclasses without a handler, into responses.
   *
   * @example
   * ```ts
   * import { PorticoApp } from "portico";
   *
   * class OutOfStock extends Error {}
   *
   * new PorticoApp().addExceptionHandler(OutOfStock, (_request, response, exc) => response.status(409).json({ detail: exc.message }));
   * ```
   */
  addExceptionHandler<E extends Error>(type: ErrorClass<E>, handler: ExceptionHandler<E>): this {
    this.#exceptionHandlers.add(type, handler);
    return this;
  }

  /**
   * Replaces a dependency wherever it is declared, for tests. A warning is logged if nothing depends on it.
   *
   * @example
   * ```ts
   * import { Depend, PorticoApp } from "portico";
   *
   * const database = (): { title: string }[] => {
   *   throw new Error("not in a test");
   * };
   * const app = new PorticoApp().get("/books", { params: { books: Depend(database) } }, ({ books }) => books);
   *
   * app.override(database, () => [{ title: "Emma" }]);
   * ```
   */
  override<T>(provider: Provider<T>, replacement: Replacement<T>): this;
  override<R>(provider: (args: never) => R, replacement: Replacement<Unwrap<R>>): this;
  override(provider: Callable | Provider<unknown>, replacement: (args: never) => unknown): this {
    const callable = callableOf(provider);
    this.#overrides.set(callable, replacement as (args: object) => unknown);
    // Before startup, a dependent may still be declared.
    if (this.#started !== null) reportOverrides(this.log, [callable]);
    return this;
  }

  /** Runs before the first request is served. If it throws, the application does not start. */
  onStart(hook: LifeCycleHook): this {
    this.#startHooks.push(hook);
    return this;
  }

  /** Runs after the last response was sent, in reverse order of registration. */
  onClose(hook: LifeCycleHook): this {
    this.#closeHooks.push(hook);
    return this;
  }

  /** The OpenAPI 3.1 document of the current routes. After this call routes can no longer change. */
  openapi(): OpenApiDocument {
    const { title, version, description } = this.#options;
    const info = { title, version, ...(description === undefined ? {} : { description }) };
    this.#document ??= buildOpenApiDocument(info, this.#collect().routes);
    return this.#document;
  }

  /**
   * Starts listening. From then on the signals in `shutdown.signals` shut the application down gracefully. Port 0 picks a free
   * port.
   */
  async listen(options: { readonly port: number; readonly host?: string }): Promise<Address> {
    const { port, host = "127.0.0.1" } = options;
    await this.#start();
    this.#server.start();
    const address = await this.#engine.listen(port, host);
    this.#endOnSignals();
    const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
    this.#address = { port: address.port, host: address.address, url: `http://${name}:${address.port}` };
    return this.#address;
  }

  /** Serves a request without a socket, through the same routes, middleware and gates. */
  async inject(request: InjectRequest | string): Promise<InjectResponse> {
    await this.#start();
    return this.#engine.inject(typeof request === "string" ? { url: request } : request);
  }

  /**
   * Shuts down: finishes requests in flight, closes sockets, then runs the `onClose` hooks. Calling it again returns the same
   * promise.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close({ delayMs: 0, socketMs: 0 });
    return this.#closed;
  }

  /**
   * Shuts down as on a signal: readiness returns 503 for a while before anything is rejected, and sockets are closed one after
   * another.
   */
  drain(): Promise<void> {
    const { delaySeconds, socketSeconds } = this.#options.shutdown;
    this.#closed ??= this.#close({ delayMs: delaySeconds * 1000, socketMs: socketSeconds * 1000 });
    return this.#closed;
  }

  async #close({ delayMs, socketMs }: { readonly delayMs: number; readonly socketMs: number }): Promise<void> {
    const deadlineMs = this.#options.shutdown.deadlineSeconds * 1000;
    this.#engine.closeConnectionsAfterAnswers();
    await this.#server.drain(delayMs);
    const cut = setTimeout(() => this.#server.cutSockets(), deadlineMs);
    await Promise.all([this.#engine.close(deadlineMs), this.#server.closeSockets(socketMs)]);
    clearTimeout(cut);
    this.#server.stop();
    await this.#runCloseHooks();
  }

  #start(): Promise<void> {
    this.#started ??= (async () => {
      const { health } = this.#options;
      this.#engine.start(this.#engineApp(health === false ? [] : this.#healthRoutes(health)));
      await this.#engine.ready();
      await this.#runStartHooks();
    })();
    return this.#started;
  }

  #healthRoutes(health: Required<HealthOptions>): readonly Route[] {
    const checks = { ...storeChecks(this.#services.stores, this.#services.clock), ...health.checks };
    return healthRoutes({ ...health, checks }, this.#server);
  }

  #engineApp(health: readonly Route[]): EngineApp {
    const { openapi } = this.#options;
    const { middleware, routes, sockets } = this.#collect();
    // Built now, not on first use, so that two routes with one name are an error at startup.
    if (openapi !== false) this.openapi();
    // The app's middleware also runs for these routes.
    const documentation =
      openapi === false ? [] : openApiRoutes(openapi, () => this.openapi()).map((route) => ({ ...route, middleware }));
    checkPaths([...routes, ...documentation, ...health], sockets);
    this.#services.paging.check(routes);
    reportGates(this.log, { middleware, routes, sockets });
    reportOverrides(this.log, this.#overrides.keys());
    return this.#server.engineApp({ middleware, routes: [...routes, ...documentation], sockets }, health);
  }

  #collect(): RouteTable {
    this.#table ??= this.collect();
    return this.#table;
  }

  async #runStartHooks(): Promise<void> {
    await startStores(this.#services.stores, this.log, this.#services.clock);
    try {
      for (const hook of this.#startHooks) await hook();
    } catch (error) {
      await closeStores(this.#services.stores);
      throw error;
    }
  }

  async #runCloseHooks(): Promise<void> {
    try {
      for (const hook of this.#closeHooks.toReversed()) await hook();
    } finally {
      await closeStores(this.#services.stores);
    }
  }

  #endOnSignals(): void {
    const { signals, deadlineSeconds, delaySeconds } = this.#options.shutdown;
    const end = (signal: NodeJS.Signals): void => {
      this.log.info({ signal }, "shutting down");
      // The last resort if a hook hangs, later than everything that ends by itself.
      setTimeout(() => process.exit(1), (delaySeconds + deadlineSeconds) * 1000 + 1_000).unref();
      this.drain().catch((err: unknown) => {
        this.log.error({ err }, "shutdown failed");
        process.exitCode = 1;
      });
    };
    for (const signal of signals) process.once(signal, end);
    this.onClose(() => {
      for (const signal of signals) process.off(signal, end);
    });
  }
}
