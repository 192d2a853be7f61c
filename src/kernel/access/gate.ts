import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { PorticoRequest } from "../context/portico-request.ts";
import type { AuthScope, Caller, CurrentUser } from "../identity/identity.ts";

declare const PLACE: unique symbol;

/**
 * An auth check for the option `auth`. `useAuth()`, `rule()`, `every()`, `some()` and `not()` make one. Its type arguments
 * narrow the types behind it: whether the caller is signed in, and the accepted sign-in methods. `Place` is what it needs to
 * know about the place that it guards, such as the object for a rule about objects.
 */
export interface Gate<
  out Required extends boolean = boolean,
  out Scope extends AuthScope = AuthScope,
  in Place = unknown,
> {
  /** Whether an anonymous caller is always rejected. */
  readonly required: Required;
  readonly scopes: readonly Scope[];
  /**
   * Whether it depends on the caller's identity. Without authentication such a gate never opens, and a warning is logged at
   * startup.
   */
  readonly needsIdentity?: boolean;
  /**
   * Returns to accept the caller; throws an HTTP exception to reject it. On a route, it runs after the path and the query are
   * parsed and before the body is read.
   */
  check(ctx: BaseContext): MaybePromise<void>;
  readonly [PLACE]?: (place: Place) => void;
}

/**
 * The second parameter of a gate function on a route or a socket. The gate runs after the path and the query are parsed, so it
 * decides about the values that the handler receives.
 *
 * @example
 * ```ts
 * import { PorticoApp, Router, type RoutePlace, type UserProtocol } from "portico";
 *
 * const managesShop = (user: UserProtocol, { path }: RoutePlace): boolean => user.hasPermission(`manage:${String(path["shop"])}`);
 *
 * const shops = new Router({ prefix: "/shops/:shop", auth: managesShop });
 * shops.get("/sales", ({ path }) => `sales of ${path.shop}`);
 * new PorticoApp().mount("", shops);
 * ```
 */
export interface RoutePlace<Path = Readonly<Record<string, unknown>>, Query = Readonly<Record<string, unknown>>> {
  /** The request. Its URL and its body are left out, because the handler receives them in another form. */
  readonly request: Omit<
    PorticoRequest<CurrentUser, AuthScope | null, Path, unknown, Query>,
    "url" | "body" | "json" | "text" | "bytes" | "form" | "stream"
  >;
  /** The output of the path schema; without a schema, the parameters as they were sent. */
  readonly path: Path;
  /** The output of the query schema; without a schema, the query as it was sent. */
  readonly query: Query;
  readonly ctx: BaseContext<CurrentUser>;
}

/** The values of the option `auth` for a place. */
export type Auth<Place> =
  | boolean
  | Gate<boolean, AuthScope, Place>
  | ((user: CurrentUser, place: Place) => MaybePromise<boolean>);

/** The `auth` of a route inside a router with `Around`: gates add up, and `false` drops the one around. */
export type Behind<Around, G, Verdict> = [Verdict] extends [never]
  ? [G] extends [false]
    ? never
    : IsRequired<G> extends true
      ? G
      : IsRequired<Around> extends true
        ? Around
        : G
  : true;

/** The function of a gate, as it was written. */
export type GateFunction = (this: void, user: never, place: never) => unknown;

/** Whether every caller behind this value of `auth` is signed in. */
export type IsRequired<G> = [G] extends [never]
  ? false
  : [G] extends [true | Gate<true, any, any> | ((user: any, place: any) => unknown)]
    ? true
    : false;
/** The user type of a handler behind this value of `auth`. */
export type GateUser<G> = IsRequired<G> extends true ? CurrentUser : Caller;
/** The scope type of a handler behind this value of `auth`. */
export type GateScope<G> = [G] extends [Gate<infer R, infer S, any>]
  ? R extends true
    ? S
    : S | null
  : IsRequired<G> extends true
    ? AuthScope
    : AuthScope | null;
