import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { listOf, resolveOptions, textLike } from "../../core/resolve-options.ts";
import type { Behind, Gate } from "../../kernel/access/gate.ts";
import { authRule, bothGates, type RouteAuth, readRouteGate } from "../../kernel/access/read-gate.ts";
import type { RouteParams, SocketParams } from "../../kernel/context/depend.ts";
import type { MiddlewareFunction } from "../../kernel/context/middleware-function.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import type { StrategyFor } from "../../pagination/strategies/strategy-by-name.ts";
import { type Middleware, middlewareFunctions } from "./middleware.ts";
import { joinPath, type PathParams } from "./path-params.ts";
import {
  declareRoute,
  type Handler,
  type Method,
  type PlainRouteTypes,
  type ResponseSchemas,
  type Route,
  type RouteOptions,
} from "./route.ts";
import type { Schema } from "./schema.ts";
import { declareSocketRoute, type SocketHandler, type SocketOptions, type SocketRoute } from "./socket-route.ts";

/** `get`, `post`, ...: `(path, handler)` or `(path, options, handler)`. */
export interface RouteMethod<Prefix extends string, Self, Around = never> {
  <const Url extends string>(url: Url, handler: Handler<`${Prefix}${Url}`, PlainRouteTypes<Around>>): Self;
  <
    const Url extends string,
    G extends boolean | Gate<boolean, AuthScope, never> = Gate,
    Verdict extends MaybePromise<boolean> = never,
    const P extends RouteParams<PathParams<`${Prefix}${Url}`>> = {},
    Body extends Schema | undefined = undefined,
    Query extends Schema | undefined = undefined,
    Path extends Schema | undefined = undefined,
    Answer extends ResponseSchemas | undefined = undefined,
    Item extends Schema | undefined = undefined,
    // Any column name is valid here; `paginate` checks them against the rows, of which a response may contain fewer columns.
    const Strategy extends StrategyFor<any> | undefined = undefined,
  >(
    url: Url,
    options: RouteOptions<
      {
        auth: G;
        verdict: Verdict;
        params: P;
        body: Body;
        query: Query;
        path: Path;
        response: Answer;
        item: Item;
        strategy: Strategy;
      },
      `${Prefix}${Url}`
    >,
    handler: Handler<
      `${Prefix}${Url}`,
      {
        auth: Behind<Around, NoInfer<G>, NoInfer<Verdict>>;
        verdict: never;
        params: NoInfer<P>;
        body: NoInfer<Body>;
        query: NoInfer<Query>;
        path: NoInfer<Path>;
        response: NoInfer<Answer>;
        item: NoInfer<Item>;
        strategy: NoInfer<Strategy>;
      }
    >,
  ): Self;
}

/** `socket`: `(path, handler)` or `(path, options, handler)`. */
export interface SocketMethod<Prefix extends string, Self, Around = never> {
  <const Url extends string>(
    url: Url,
    handler: SocketHandler<`${Prefix}${Url}`, Around, {}, undefined, undefined>,
  ): Self;
  <
    const Url extends string,
    G extends boolean | Gate<boolean, AuthScope, never> = Gate,
    Verdict extends MaybePromise<boolean> = never,
    const P extends SocketParams = {},
    Query extends Schema | undefined = undefined,
    Path extends Schema | undefined = undefined,
  >(
    url: Url,
    options: SocketOptions<G, P, Query, Path, Verdict, `${Prefix}${Url}`>,
    handler: SocketHandler<
      `${Prefix}${Url}`,
      Behind<Around, NoInfer<G>, NoInfer<Verdict>>,
      NoInfer<P>,
      NoInfer<Query>,
      NoInfer<Path>
    >,
  ): Self;
}

export interface RouterOptions<Prefix extends string, G = unknown, Verdict = never> {
  /** Prefix of every path; its parameters are typed in the handlers. */
  readonly prefix?: Prefix;
  /**
   * The gate of every route and socket of this router and of routers mounted in it. Gates add up: a route's own `auth` is
   * checked after it. A route with `auth: false` drops the gate of its own router, and no other.
   */
  readonly auth?: RouteAuth<G, Verdict>;
  /** Runs around every route of this router. */
  readonly middleware?: readonly Middleware[];
}

/** Parts that belong together: middleware, and routers with their prefixes. */
export interface Preset {
  /** A name, for a preset that a router accepts only once. The error for a second one contains it. */
  readonly name?: string;
  readonly middleware: readonly Middleware[];
  readonly routers: readonly (readonly [prefix: string, router: Router<any, any, any>])[];
}

/** Everything in a router, including its mounted routers. */
export interface RouteTable {
  /** The router's own middleware, around all of its routes. */
  readonly middleware: readonly MiddlewareFunction[];
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
}

/**
 * Routes under one prefix with shared middleware; routers can be nested.
 *
 * Middleware applies to all routes of its router and of routers mounted in it, regardless of the order of declaration.
 *
 * @example
 * ```ts
 * import { PorticoApp, Router } from "portico";
 *
 * const books = new Router({ prefix: "/books" });
 * books.get("/:id", ({ path }) => ({ id: path.id }));
 *
 * new PorticoApp().mount("/api", books); // GET /api/books/:id
 * ```
 */
export class Router<
  const Prefix extends string = "",
  G extends boolean | Gate<boolean, AuthScope, never> = Gate,
  Verdict extends MaybePromise<boolean> = never,
> {
  readonly get: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("GET");
  readonly post: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("POST");
  readonly put: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("PUT");
  readonly patch: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("PATCH");
  readonly delete: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("DELETE");
  readonly options: RouteMethod<Prefix, this, Behind<never, G, Verdict>> = this.#method("OPTIONS");
  /** A WebSocket route. Middleware and gates run before the upgrade. */
  readonly socket: SocketMethod<Prefix, this, Behind<never, G, Verdict>> = (
    path: string,
    ...rest: readonly unknown[]
  ) => {
    const [options, handler] = rest.length < 2 ? [{}, rest[0]] : rest;
    this.#change();
    checkPath(`socket ${path}`, path);
    this.#sockets.push(declareSocketRoute(joinPath(this.#prefix, path), options, handler));
    return this;
  };

  readonly #prefix: string;
  readonly #auth: Gate | undefined;
  readonly #middleware: MiddlewareFunction[];
  readonly #routes: Route[] = [];
  readonly #sockets: SocketRoute[] = [];
  readonly #mounted: (readonly [prefix: string, router: Router<any, any, any>])[] = [];
  readonly #presets = new Set<string>();
  #isSealed = false;
  #isBuiltIn = false;

  constructor(options: RouterOptions<Prefix, G, Verdict> = {}) {
    const { prefix, auth, middleware } = resolveOptions("Router", options, routerRules);
    this.#prefix = prefix ?? "";
    this.#auth = readRouteGate("Router.auth", auth);
    this.#middleware = [...middlewareFunctions("Router", middleware ?? [])];
  }

  /** Adds middleware, or a preset. */
  use(part: Middleware | Preset): this {
    this.#change();
    if (!isPreset(part)) {
      this.#middleware.push(...middlewareFunctions("use", [part]));
      return this;
    }
    this.#take(part);
    for (const middleware of part.middleware) this.use(middleware);
    for (const [prefix, router] of part.routers) this.mount(prefix, router);
    return this;
  }

  /** Mounts a router under a prefix. */
  mount(prefix: string, router: Router<any, any, any>): this {
    this.#change();
    if (!(router instanceof Router)) throw new ConfigurationError("mount", "given a Router", router);
    if (!router.isMountable)
      throw new ConfigurationError(
        "mount",
        "was given a PorticoApp, whose options and exception handlers would be lost: pass a Router",
      );
    if (prefix !== "" && !prefix.startsWith("/"))
      throw new ConfigurationError("mount: the prefix", 'empty, or a string that begins with "/"', prefix);
    if (router.#holds(this))
      throw new ConfigurationError("mount", "was given the router itself, or a router that contains it");
    this.#mounted.push([joinPath(this.#prefix, prefix), router]);
    return this;
  }

  /** @internal */
  get isMountable(): boolean {
    return true;
  }

  /** @internal Adds a route that Portico itself has created, under this router's prefix. */
  add(route: Route): this {
    this.#change();
    this.#routes.push({ ...route, isBuiltIn: true, path: joinPath(this.#prefix, route.path) });
    return this;
  }

  /** @internal Marks the routes of this router as built in, for people who review an application. */
  builtIn(): this {
    this.#isBuiltIn = true;
    return this;
  }

  /** @internal Adds a socket route that Portico itself has created, under this router's prefix. */
  addSocket(route: SocketRoute): this {
    this.#change();
    this.#sockets.push({ ...route, path: joinPath(this.#prefix, route.path) });
    return this;
  }

  /** @internal Everything in it, with prefixes and middleware applied. After this call the router can no longer change. */
  collect(): RouteTable {
    this.#isSealed = true;
    const tables = this.#mounted.map(([prefix, router]) => below(prefix, router.collect()));
    const around = <R extends Route | SocketRoute>(route: R): R => ({
      ...route,
      auth: route.isOpen ? route.auth : bothGates(`${placeOfRoute(route)}.auth`, this.#auth, route.auth),
      // `auth: false` is written where this router is declared, and says nothing about the routers around it.
      isOpen: false,
      middleware: [...this.#middleware, ...route.middleware],
    });
    return {
      middleware: this.#middleware,
      routes: [
        ...(this.#isBuiltIn ? this.#routes.map(asBuiltIn) : this.#routes),
        ...tables.flatMap(({ routes }) => routes),
      ].map(around),
      sockets: [...this.#sockets, ...tables.flatMap(({ sockets }) => sockets)].map(around),
    };
  }

  #method(method: Method): RouteMethod<Prefix, this, Behind<never, G, Verdict>> {
    return (path: string, ...rest: readonly unknown[]) => {
      const [options, handler] = rest.length < 2 ? [{}, rest[0]] : rest;
      this.#change();
      checkPath(`${method} ${path}`, path);
      this.#routes.push(declareRoute(method, joinPath(this.#prefix, path), options, handler));
      return this;
    };
  }

  #take({ name }: Preset): void {
    if (name === undefined) return;
    if (this.#presets.has(name))
      throw new ConfigurationError(name, "is used twice on this router: merge the two into one");
    this.#presets.add(name);
  }

  #holds(router: Router<any, any, any>): boolean {
    return this === (router as unknown) || this.#mounted.some(([, mounted]) => mounted.#holds(router));
  }

  #change(): void {
    if (this.#isSealed)
      throw new ConfigurationError(
        "Router",
        "has already started: declare routes, middleware and mounts before the first request",
      );
  }
}

/** Rejects a path without a slash, which would continue the last word of the prefix. The empty path is the prefix itself. */
function checkPath(owner: string, path: unknown): void {
  if (path === "" || (typeof path === "string" && path.startsWith("/"))) return;
  throw new ConfigurationError(`${owner}: the path`, 'a string that begins with "/"', path);
}

/** The name of a route or a socket in messages. */
export function placeOfRoute({ method, path }: { readonly method?: string; readonly path: string }): string {
  return `${method ?? "socket"} ${path}`;
}

const asBuiltIn = (route: Route): Route => ({ ...route, isBuiltIn: true });

function below(prefix: string, { middleware, routes, sockets }: RouteTable): RouteTable {
  const move = <R extends { readonly path: string }>(route: R): R => ({ ...route, path: joinPath(prefix, route.path) });
  return { middleware, routes: routes.map(move), sockets: sockets.map(move) };
}

function isPreset(part: Middleware | Preset): part is Preset {
  return typeof part === "object" && part !== null && "routers" in part;
}

const routerRules = {
  prefix: textLike('a string that begins with "/"', /^(?:\/|$)/),
  auth: authRule,
  middleware: listOf<Middleware>("a list of middleware", () => true),
};
