import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext, WebSocketContext } from "../context/http-context.ts";
import type { OpenApiSecurityScheme } from "./open-api-security-scheme.ts";

/** Runs the rest: the inner middleware, the gate, the handler. On a socket it ends when the socket does. */
export type Next = () => Promise<void>;

/**
 * One layer of the onion around a handler. It answers itself, throws, or calls `next()` once; what stands after
 * `await next()` runs on the way out, before the answer leaves.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 *
 * new PorticoApp().use(async (ctx, next) => {
 *   const started = performance.now();
 *   await next();
 *   if (ctx.kind === "http") ctx.response.header("server-timing", `app;dur=${performance.now() - started}`);
 * });
 * ```
 */
export type MiddlewareFunction = (ctx: HttpContext | WebSocketContext, next: Next) => MaybePromise<unknown>;
/** Middleware as an object: it can say something about itself before the first request. */
export interface MiddlewareObject {
  handle: MiddlewareFunction;
  /** Where it finds out who is calling, the ways of signing in that it knows: gates are checked against them at the start. */
  readonly scopes?: readonly string[];
  /** How the credentials of those ways are sent, by scope: for the OpenAPI document. */
  readonly securitySchemes?: Readonly<Record<string, OpenApiSecurityScheme>>;
  /** What the log says when the application starts. */
  readonly warnings?: readonly string[];
}
/** A function, or an object with a method of that shape. */
export type Middleware = MiddlewareFunction | MiddlewareObject;

type Layer<C> = (ctx: C) => MaybePromise<void>;

/** The middleware as plain functions; anything else is refused with the place it was given at. */
export function middlewareFunctions(owner: string, middleware: readonly Middleware[]): readonly MiddlewareFunction[] {
  return middleware.map((entry) => {
    if (typeof entry === "function") return entry;
    if (typeof entry === "object" && entry !== null && typeof entry.handle === "function") {
      const run: MiddlewareFunction = (ctx, next) => entry.handle(ctx, next);
      OBJECTS.set(run, entry);
      return run;
    }
    throw new ConfigurationError(
      `${owner}: a middleware`,
      "a function (ctx, next), or an object with handle(ctx, next)",
      entry,
    );
  });
}

const OBJECTS = new WeakMap<MiddlewareFunction, MiddlewareObject>();

/** The object that a middleware was given as; `undefined` for a function. */
export function objectOf(middleware: MiddlewareFunction): MiddlewareObject | undefined {
  return OBJECTS.get(middleware);
}

/** Puts layers around `inner`, the first outermost. Done once per route; without middleware it costs nothing. */
export function compose<C extends HttpContext | WebSocketContext>(
  middleware: readonly MiddlewareFunction[],
  inner: Layer<C>,
): Layer<C> {
  return middleware.reduceRight<Layer<C>>((next, layer) => {
    return async function run(ctx: C): Promise<void> {
      let isCalled = false;
      await layer(ctx, async () => {
        if (isCalled)
          throw new Error(`the middleware ${layer.name === "" ? "(anonymous)" : layer.name} called next() twice`);
        isCalled = true;
        await next(ctx);
      });
    };
  }, inner);
}
