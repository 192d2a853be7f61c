import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ConfigurationError } from "./core/configuration-error.ts";
import { isInstance, loggable } from "./core/describe-error.ts";
import { isProduction } from "./core/env.ts";
import { exitAtOnce } from "./core/exit-at-once.ts";
import { killAfter } from "./core/kill-after.ts";
import type { Logger } from "./core/logger.ts";
import type { MaybePromise } from "./core/maybe-promise.ts";
import { Descriptors } from "./core/parts/descriptors.ts";
import { EventLoop } from "./core/parts/event-loop.ts";
import { Parts } from "./core/parts/parts.ts";
import { resolveOptions } from "./core/resolve-options.ts";
import { type Callable, callableOf, type Provider, type ProviderAmbient, type Unwrap } from "./dependencies/depend.ts";
import { containErrors } from "./http/engine/contain-errors.ts";
import {
  Engine,
  type FastifyInstance,
  type FastifyPluginAsync,
  type InjectRequest,
  type InjectResponse,
} from "./http/engine/engine.ts";
import type { EngineApp } from "./http/engine/engine-app.ts";
import type { HostRequest, HostResponse } from "./http/engine/host-exchange.ts";
import { readListenOptions } from "./http/engine/listen-options.ts";
import { routeUpgrade } from "./http/engine/route-upgrade.ts";
import { Brand, brandOf } from "./http/html/brand.ts";
import { httpMessages } from "./http/messages/http-messages.ts";
import { Origins } from "./http/messages/origins.ts";
import { checkPaths } from "./http/routing/check-paths.ts";
import { reportGates } from "./http/routing/report-gates.ts";
import { reportOverrides } from "./http/routing/report-overrides.ts";
import { responseStoresOf } from "./http/routing/response-stores-of.ts";
import type { Route } from "./http/routing/route.ts";
import { Router, type RouteTable } from "./http/routing/router.ts";
import type { HealthCheck, HealthChecks } from "./http/serving/health-checks.ts";
import { healthRoutes } from "./http/serving/health-routes.ts";
import { HostRequests } from "./http/serving/host-requests.ts";
import { onUnhandledRejection } from "./http/serving/on-unhandled-rejection.ts";
import { readinessChecks } from "./http/serving/readiness-checks.ts";
import { Server } from "./http/serving/server.ts";
import { authorize, can } from "./kernel/access/authorize.ts";
import type { Behind, Gate, GateUser } from "./kernel/access/gate.ts";
import { authRule, type RouteAuth } from "./kernel/access/read-gate.ts";
import type { AppServices } from "./kernel/context/app-services.ts";
import { currentContext } from "./kernel/context/current-context.ts";
import { type ErrorClass, type ExceptionHandler, ExceptionHandlers } from "./kernel/context/exception-handlers.ts";
import type { BaseContext, HttpContext } from "./kernel/context/http-context.ts";
import { LaterWork } from "./kernel/context/later-work.ts";
import { type RequestHook, RequestHooks } from "./kernel/hooks/request-hooks.ts";
import { followAccess } from "./kernel/idempotency/follow-access.ts";
import { Actors } from "./kernel/identity/actors.ts";
import type { AuthScope } from "./kernel/identity/identity.ts";
import { OpenConnections } from "./kernel/identity/open-connections.ts";
import { Budget, budgetOf } from "./kernel/limits/budget.ts";
import { Load } from "./kernel/load/load.ts";
import { Paging } from "./kernel/pages/paging.ts";
import { listeningReport, listeningReports } from "./listening-report.ts";
import { buildOpenApiDocument } from "./openapi/build-open-api-document.ts";
import type { OpenAPIDocument } from "./openapi/open-api-document.ts";
import { openApiRoutes } from "./openapi/open-api-routes.ts";
import {
  DEFAULT_TITLE,
  type PorticoAppOptions,
  type ResolvedAppOptions,
  resolveAppOptions,
} from "./portico-app-options.ts";
import { migrationChecks, migrationFault, refuseFaults, startupFaults } from "./startup-faults.ts";
import { type ConsumerDeclaration, outboxFor, outboxOf } from "./stores/outbox.ts";
import type { PubSub } from "./stores/pub-sub.ts";
import { closeStores, startStores } from "./stores/start-stores.ts";
import type { Stores } from "./stores/stores.ts";
import { StoresPart } from "./stores/stores-part.ts";

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
  readonly #descriptors = new Descriptors();
  readonly #eventLoop = new EventLoop();
  readonly #exceptionHandlers = new ExceptionHandlers();
  readonly #overrides = new Map<Callable, (args: object) => unknown>();
  readonly #startHooks: LifeCycleHook[] = [];
  readonly #closeHooks: LifeCycleHook[] = [];
  readonly #consumers: ConsumerDeclaration[] = [];
  #table: RouteTable | null = null;
  #hostRequests: HostRequests | null = null;
  #isPlugin = false;
  #isMigrated = false;
  #document: OpenAPIDocument | null = null;
  #checks: HealthChecks | null = null;
  #started: Promise<void> | null = null;
  #closed: Promise<void> | null = null;
  #address: Address | null = null;

  constructor(options: PorticoAppOptions = {}) {
    super();
    this.#options = resolveAppOptions(options);
    const { title, timeouts, publicUrl, logger, trustedProxies, origins, load, stores, clock, debug, cursorKeys } =
      this.#options;
    const { budget, brand } = this.#options;
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
      origins: new Origins(origins, publicUrl, this.#options.publicRead),
      messages: httpMessages,
      decisions: { authorize, can },
      load: new Load(load),
      parts: new Parts(),
      slots: null,
      laterWork: new LaterWork(),
      connections: new OpenConnections({
        clock,
        log: this.#engine.log,
        bus: stores.bus,
        recheckMs: timeouts.recheckSeconds * 1000,
      }),
      paging: new Paging(cursorKeys, this.#engine.log, publicUrl !== null),
      requestHooks: new RequestHooks(clock, this.#engine.log),
      exceptionHandlers: this.#exceptionHandlers,
      overrides: this.#overrides,
      actors: this.actors,
    };
    brandOf.put(this.#services, new Brand(title === DEFAULT_TITLE ? "" : title, brand));
    if (budget !== undefined) budgetOf.put(this.#services, new Budget(budget, stores.counters));
    const { parts, requestHooks, laterWork, connections } = this.#services;
    const storesPart = new StoresPart(stores, (role) => this.#checks?.resultOf(role) === "failed");
    for (const part of [
      this.#eventLoop,
      this.#descriptors,
      this.#services.load,
      this.#engine,
      requestHooks.unavailable,
      laterWork,
      connections,
      storesPart,
    ])
      parts.add(part);
    this.#engine.server.on("connection", () => this.#services.load.accepted());
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

  /** @internal Without the `load` option, rejects nothing because the machine is busy. */
  serveUnderLoad(): void {
    if (Object.keys(this.#options.load).length === 0) this.#services.load.onlyCount();
  }

  /** @internal */
  get settings(): ResolvedAppOptions {
    return this.#options;
  }

  /** @internal */
  get brand(): Brand {
    return brandOf.of(this.#services);
  }

  /** @internal All routes and sockets, with those of the documentation and health. After this call routes can no longer change. */
  get table(): RouteTable {
    const { middleware, routes, sockets } = this.#collect();
    const builtIn = [...this.#documentationRoutes(), ...this.#healthRoutes()].map((route) => ({
      ...route,
      isBuiltIn: true,
    }));
    return { middleware, routes: [...routes, ...builtIn], sockets };
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
      containErrors(this.log, request.socket, async () => {
        await this.#start();
        this.#serve();
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
    this.#isPlugin = true;
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
        this.#serve();
        await this.#runStartHooks();
      });
      fastify.addHook("preClose", () => this.#server.closeSockets(0));
      fastify.addHook("onClose", async () => {
        this.#stopServing();
        await this.#runCloseHooks();
      });
    };
  }

  /**
   * Identifies the caller of a route that belongs to the server around this application, such as Express or Fastify. It runs the
   * application's middleware and checks `auth`, as for a route of this application, and returns the context. Headers and cookies
   * that the middleware sets are added to the response of the other server. A second call for the same request runs no
   * middleware again.
   *
   * Rejects with the error of `auth` or of a middleware, whose `status` and `headers` Express and Fastify send. Without `auth`,
   * an anonymous caller is accepted, and it rejects with 503 if the caller's credential cannot be verified.
   *
   * @example
   * ```ts
   * import Fastify from "fastify";
   * import { PorticoApp } from "portico";
   *
   * const app = new PorticoApp();
   * const fastify = Fastify();
   * await fastify.register(app.plugin(), { prefix: "/api" });
   * fastify.get("/profile", async (request, reply) => {
   *   const { user } = await app.identify(request, reply, { auth: true });
   *   return { name: user.displayName };
   * });
   * ```
   */
  async identify<
    G extends boolean | Gate<boolean, AuthScope, never> = Gate,
    Verdict extends MaybePromise<boolean> = never,
  >(
    request: HostRequest,
    response: HostResponse,
    options: { readonly auth?: RouteAuth<G, Verdict> } = {},
  ): Promise<HttpContext<GateUser<Behind<never, G, Verdict>>>> {
    const { auth } = resolveOptions("identify", options, { auth: authRule });
    // In another Fastify application, the hooks of that application have started this one.
    if (!this.#isPlugin) await this.#start();
    this.#hostRequests ??= new HostRequests(this.#services, this.#options.maxBody, this.#collect().middleware);
    const ctx = await this.#hostRequests.identify(this.#engine.hostExchange(request, response), auth);
    return ctx as HttpContext<unknown> as HttpContext<GateUser<Behind<never, G, Verdict>>>;
  }

  /**
   * Turns errors of a class, and of its subclasses without a handler, into responses. For an error of a GraphQL resolver,
   * the response becomes the error of the field.
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
   * Replaces a dependency wherever it is declared, or a load function of `authorized`, for tests. A warning is logged if nothing depends on it.
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

  /** @internal Lets load functions return this object until the returned function is called. */
  standInFor(loads: readonly Callable[], object: unknown): () => void {
    const before = loads.map((load) => [load, this.#overrides.get(load)] as const);
    for (const load of loads) this.#overrides.set(load, () => object);
    return () => {
      for (const [load, override] of before)
        if (override === undefined) this.#overrides.delete(load);
        else this.#overrides.set(load, override);
    };
  }

  /**
   * Adds a hook that is called when a response was sent, and when a socket was opened or closed: a function, `Metrics`,
   * `prometheus()` or `opentelemetry()`. It also sees requests without a route, and those that the server rejects under load.
   * Responses do not wait for it, and its errors are only logged.
   *
   * @example
   * ```ts
   * import { PorticoApp } from "portico";
   *
   * const app = new PorticoApp();
   * app.onRequest(({ method, route, status, durationSeconds }) => {
   *   if (durationSeconds > 1) app.log.warn({ method, route, status, durationSeconds }, "slow request");
   * });
   * ```
   */
  onRequest(hook: RequestHook): this {
    this.#services.requestHooks.add(hook);
    if (typeof hook === "object") hook.watchFigures?.(() => this.#services.parts.figures());
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

  /**
   * Runs a handler of `consume` while the application runs, in one of its processes. Startup stops if the bus of `stores` cannot
   * keep events, or if two consumers have one name. At shutdown, the events that are being handled are finished first.
   *
   * @example
   * ```ts
   * import { PorticoApp, topic } from "portico";
   * import { consume, openDatabase, sqlStores } from "portico/sql";
   *
   * const orderPlaced = topic<{ id: string }>("orders.placed", { keep: "1d" });
   * const app = new PorticoApp({ stores: sqlStores(openDatabase("sqlite:shop.db")) });
   *
   * app.consume(consume(orderPlaced, "mail", { key: ({ id }) => id }, ({ id }) => console.log(`mail about ${id}`)));
   * ```
   */
  consume(consumer: ConsumerDeclaration): this {
    if (this.#consumers.some(({ name }) => name === consumer.name))
      throw new ConfigurationError("PorticoApp.consume", `has two consumers named ${consumer.name}`);
    this.#consumers.push(consumer);
    return this;
  }

  /** The OpenAPI 3.1 document of the current routes. After this call routes can no longer change. */
  openapi(): OpenAPIDocument {
    const { title, version, description, budget } = this.#options;
    const info = { title, version, ...(description === undefined ? {} : { description }) };
    this.#document ??= buildOpenApiDocument(info, this.#collect().routes, budget !== undefined);
    return this.#document;
  }

  /**
   * Starts listening. From then on the signals in `shutdown.signals` shut the application down gracefully, and so does a promise
   * whose rejection nothing handles, with exit code 1. Port 0 picks a free port. Throws `ConfigurationError` if the port is invalid or already in use.
   */
  async listen(options: { readonly port: number; readonly host?: string }): Promise<Address> {
    const place = readListenOptions(options);
    await this.#start();
    this.#serve();
    const address = await this.#engine.listen(place);
    this.#endWithProcess();
    const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
    const url = `http://${name}:${address.port}`;
    this.#address = { port: address.port, host: address.address, url };
    if (listeningReports.hasSubscribers)
      listeningReports.publish(listeningReport(url, this.#options, this.table.routes));
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
    this.#stopServing();
    await this.#services.laterWork.finish(deadlineMs);
    await this.#runCloseHooks();
  }

  #start(): Promise<void> {
    this.#started ??= (async () => {
      this.#engine.start(this.#engineApp(this.#healthRoutes()));
      await this.#engine.ready();
      await this.#runStartHooks();
    })();
    return this.#started;
  }

  /** Watches the process while it serves. */
  #serve(): void {
    this.#server.start();
    this.#eventLoop.start();
    this.#descriptors.start(this.log, () => this.#engine.server.closeIdleConnections());
  }

  #stopServing(): void {
    this.#server.stop();
    this.#descriptors.stop();
    this.#eventLoop.stop();
  }

  #healthRoutes(): readonly Route[] {
    const { health } = this.#options;
    // Their results are also shown in metrics.
    const checks = this.#healthChecks(health === false ? {} : health.checks);
    if (health === false) return [];
    return healthRoutes(health, this.#server, checks, () => (this.#descriptors.isExhausted ? ["descriptors"] : []));
  }

  #healthChecks(given: Readonly<Record<string, HealthCheck>>): HealthChecks {
    if (this.#checks !== null) return this.#checks;
    const migrations = this.#migrationChecks.length === 0 ? {} : { migrations: () => this.#checkMigrations() };
    const requiresWrites = this.#options.readiness.writes === "required";
    this.#checks = readinessChecks(this.#services, {
      table: this.#collect(),
      given: { ...migrations, ...given },
      requiresWrites,
    });
    this.#services.parts.add(this.#checks);
    return this.#checks;
  }

  #documentationRoutes(): readonly Route[] {
    const { openapi } = this.#options;
    if (openapi === false) return [];
    const { middleware } = this.#collect();
    // The app's middleware also runs for these routes.
    return openApiRoutes(openapi, () => this.openapi()).map((route) => ({ ...route, middleware }));
  }

  #engineApp(health: readonly Route[]): EngineApp {
    const { middleware, routes, sockets } = this.#collect();
    refuseFaults(startupFaults(this.#options, { middleware, routes, sockets }));
    // Built now, not on first use, so that two routes with one name are an error at startup.
    if (this.#options.openapi !== false) this.openapi();
    const documentation = this.#documentationRoutes();
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
    for (const { topic } of this.#consumers) outboxFor(this.#services.stores.bus, topic);
    await startStores(this.#services.stores, this.log, this.#services.clock);
    try {
      await this.#checkMigrations().catch((error: unknown) => {
        if (isInstance(error, ConfigurationError)) throw error;
        this.log.warn(
          { err: loggable(error) },
          "the migrations could not be checked, so the process is not ready until they are",
        );
      });
      await this.#startResponseStores();
      for (const hook of this.#startHooks) await hook();
      for (const consumer of this.#consumers)
        await outboxFor(this.#services.stores.bus, consumer.topic).consume(consumer, this.log);
    } catch (error) {
      await closeStores(this.#services.stores);
      throw error;
    }
  }

  /** Checks that the tables of stored responses exist. */
  async #startResponseStores(): Promise<void> {
    const stores = responseStoresOf(this.#collect().routes);
    if (stores.length === 0) return;
    for (const store of stores)
      await store.check().catch((error: unknown) => {
        if (isInstance(error, ConfigurationError)) throw error;
        this.log.warn({ err: loggable(error) }, "the table of idempotency keys could not be checked");
      });
    const end = new AbortController();
    const following = followAccess(stores, this.#services.stores.bus, this.log, end.signal);
    this.onClose(async () => {
      end.abort();
      await following;
    });
  }

  async #runCloseHooks(): Promise<void> {
    try {
      await outboxOf(this.#services.stores.bus)?.stop();
      for (const hook of this.#closeHooks.toReversed()) await hook();
    } finally {
      await closeStores(this.#services.stores);
    }
  }

  /** The checks for pending migrations, one per database. In development, migrations are applied while the application runs. */
  get #migrationChecks(): readonly (() => Promise<readonly string[]>)[] {
    return isProduction() ? migrationChecks(this.#collect()) : [];
  }

  /** Throws `ConfigurationError` if a database lacks migrations, and once it has all of them, asks no more. */
  async #checkMigrations(): Promise<void> {
    if (this.#isMigrated) return;
    for (const check of this.#migrationChecks) {
      const pending = await check();
      if (pending.length > 0) refuseFaults([migrationFault(pending)]);
    }
    this.#isMigrated = true;
  }

  /** Shuts the application down on a signal, and when nothing handles the rejection of a promise. */
  #endWithProcess(): void {
    const { signals } = this.#options.shutdown;
    if (signals.length === 0) return;
    let isEnding = false;
    const end = (log: () => void): void => {
      log();
      if (!isEnding) this.#endInTime();
      isEnding = true;
    };
    const onSignal = (signal: NodeJS.Signals): void => end(() => this.log.info({ signal }, "shutting down"));
    const stopWatching = onUnhandledRejection((reason) => {
      process.exitCode = 1;
      const ctx = currentContext();
      // Of several applications, the one whose request it was reports it.
      const isOurs = ctx === null || ctx.services === this.#services;
      const route = ctx === null || ctx.pattern === "" ? {} : { route: ctx.pattern };
      end(() => isOurs && this.log.fatal({ err: loggable(reason), ...route }, UNHANDLED));
    });
    for (const signal of signals) process.once(signal, onSignal);
    this.onClose(() => {
      stopWatching();
      for (const signal of signals) process.off(signal, onSignal);
    });
  }

  #endInTime(): void {
    const { deadlineSeconds, delaySeconds } = this.#options.shutdown;
    // The last resorts if a hook hangs or blocks the thread, later than everything that ends by itself.
    const deadlineMs = (delaySeconds + deadlineSeconds) * 1000 + 1_000;
    killAfter(deadlineMs + 1_000);
    setTimeout(() => exitAtOnce(1), deadlineMs).unref();
    this.drain().catch((err: unknown) => {
      this.log.error({ err: loggable(err) }, "shutdown failed");
      process.exitCode = 1;
    });
  }
}

const UNHANDLED = "a promise was rejected and nothing handled it: shutting down. Await it, or handle its rejection";
