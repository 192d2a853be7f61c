import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext, WebSocketContext } from "./http-context.ts";

/** Runs the rest: the inner middleware, the gate, the handler. On a socket it resolves when the socket is closed. */
export type Next = () => Promise<void>;

/**
 * One layer around a handler. It responds itself, throws, or calls `next()` once; code after `await next()` runs on the way
 * out, before the response is sent.
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

/** The parts of an application without which a middleware must not run in production. */
export interface ProductionNeeds {
  /** The reason why it needs the public URL, such as "links in emails". */
  readonly publicUrl?: string | undefined;
  /** The data that it keeps in the stores of the application, such as "sessions". */
  readonly stores?: string | undefined;
  /** Returns the names of the migrations that its database lacks. */
  readonly pendingMigrations?: (() => Promise<readonly string[]>) | undefined;
}
