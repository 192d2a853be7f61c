import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import type { MiddlewareFunction, ProductionNeeds } from "../../kernel/context/middleware-function.ts";
import type { OpenAPISecurityScheme } from "./open-api-security-scheme.ts";

/** A check of something that a middleware depends on: `run` throws if it does not work. */
export interface MiddlewareCheck {
  readonly run: () => MaybePromise<unknown>;
  /** Whether the process is not ready while it fails. */
  readonly isRequired: boolean;
}
/** Middleware as an object, which can describe itself before the first request. */
export interface MiddlewareObject {
  handle: MiddlewareFunction;
  /** For authentication middleware, the scopes of its backends. Gates are checked against them at startup. */
  readonly scopes?: readonly string[];
  /** How the credentials for those scopes are sent, by scope, for the OpenAPI document. */
  readonly securitySchemes?: Readonly<Record<string, OpenAPISecurityScheme>>;
  /** Warnings to log at startup. */
  readonly warnings?: readonly string[];
  /** Checks for readiness, by name. If one fails that is not required, `/readyz` only names it. */
  readonly checks?: Readonly<Record<string, MiddlewareCheck>>;
  /** @internal */
  readonly "~needs"?: ProductionNeeds;
}

/** A function, or an object with such a function as its method. */
export type Middleware = MiddlewareFunction | MiddlewareObject;

type Layer<C> = (ctx: C) => MaybePromise<void>;

/** The middleware as plain functions. The error for an invalid one names `owner`. */
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

/** The object that a middleware was passed as; `undefined` for a function. */
export function objectOf(middleware: MiddlewareFunction): MiddlewareObject | undefined {
  return OBJECTS.get(middleware);
}

/** The needs of a middleware, whether it was passed as an object or as a function. */
export function needsOf(middleware: MiddlewareFunction): ProductionNeeds {
  return (objectOf(middleware) ?? (middleware as Pick<MiddlewareObject, "~needs">))["~needs"] ?? {};
}

/** Wraps layers around `inner`, the first outermost. This runs once per route; without middleware it costs nothing. */
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
