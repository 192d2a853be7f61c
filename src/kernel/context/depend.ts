import {
  type ContextClass,
  type DependFunction,
  depend,
  type Injectable,
  type InjectParams,
  type ProvideFunction,
  provide as provideAny,
  type Reserved,
} from "../../dependencies/depend.ts";
import type { AnySubject, Subject } from "../../dependencies/subject.ts";
import type { BaseContext } from "./http-context.ts";

/**
 * Declares a parameter as the value of a callable: a function, sync or async, a generator that yields the value and whose
 * `finally` runs afterwards, or the result of `provide`.
 *
 * @example
 * ```ts
 * import { Depend, PorticoApp } from "portico";
 *
 * const now = () => new Date();
 *
 * new PorticoApp().get("/time", { params: { now: Depend(now) } }, ({ now }) => ({ time: now.toISOString() }));
 * ```
 */
export const Depend: DependFunction<BaseContext> = depend;

/**
 * A dependency with its own dependencies, or one with a typed `ctx`.
 *
 * @example
 * ```ts
 * import { Depend, provide } from "portico";
 *
 * const connection = provide(async function* ({ ctx }) {
 *   try {
 *     yield { query: (sql: string) => sql };
 *   } finally {
 *     console.log("the request was a", ctx.outcome);
 *   }
 * });
 * const shelf = provide({ db: Depend(connection) })(({ db }) => ({ books: () => db.query("select * from books") }));
 * ```
 */
export const provide: ProvideFunction<BaseContext> = provideAny as ProvideFunction<BaseContext>;

/** The values that the load function of `authorized` receives on a route. */
export interface RouteGiven<Path = unknown, Query = unknown, Body = unknown> {
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly ctx: BaseContext;
  readonly context: BaseContext;
}

/**
 * The parameters that a socket may declare: dependencies and contexts, under names that the handler does not have already.
 */
export type SocketParams = InjectParams<BaseContext> & HandlerNames;
/** The parameters that a route may declare: also objects, made by `authorized`. */
export type RouteParams<Path = unknown> = {
  // With the first of the two, TypeScript knows the path in a load function; with the second, any other is accepted here.
  readonly [name: string]: Injectable<BaseContext> | Subject<any, RouteGiven<Path>> | AnySubject;
} & { readonly [K in "ctx" | "context"]?: ContextClass<BaseContext> } & HandlerNames;

type HandlerNames = Reserved<
  "request" | "response" | "user" | "body" | "query" | "path" | "socket",
  "every handler already has this name: choose another one"
>;
