import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { allOf, anyOf, type Condition, inverse, isCondition } from "../../pagination/conditions/condition.ts";
import type { AuthScope, CurrentUser } from "../identity/identity.ts";
import type { Gate, IsRequired } from "./gate.ts";
import { checkScopes, type GateNode } from "./gate-node.ts";
import { gateOf } from "./gate-of.ts";
import { authRule, readGate, type WrittenAuth } from "./read-gate.ts";

/** A gate in a combination. A function with a second parameter names its type, such as `Of<OrderRow>` or `RoutePlace`. */
export type Member = true | Gate<boolean, any, never> | ((user: CurrentUser, place: never) => MaybePromise<boolean>);

/** The information that the members need about their place, all together. */
export type PlaceOf<M> = (
  M extends Gate<any, any, infer P>
    ? (place: P) => void
    : M extends (user: any, place: infer P) => unknown
      ? (place: P) => void
      : (place: unknown) => void
) extends (place: infer P) => void
  ? P
  : never;

/** The sign-in methods that a member accepts. */
export type ScopeOf<M> = M extends Gate<any, infer S, any> ? S : AuthScope;

type RequiredByOne<M extends readonly unknown[]> = true extends { [K in keyof M]: IsRequired<M[K]> }[number]
  ? true
  : false;
type RequiredByAll<M extends readonly unknown[]> = false extends { [K in keyof M]: IsRequired<M[K]> }[number]
  ? false
  : true;

type ColumnsOf<C> = C extends Condition<infer K> ? K : never;

/**
 * Opens if all of these open; they are checked in order. The user behind it is signed in if one of them requires it. Of
 * conditions, it makes the condition that all of them hold. Throws `ConfigurationError` for gates whose `scopes` have none in
 * common.
 *
 * @example
 * ```ts
 * import { every, PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 *
 * const auth = every(useAuth({ scopes: ["session"] }), (user) => user.hasPermission("read:audit"));
 * new PorticoApp().get("/audit", { auth }, ({ user }) => user.displayName);
 * ```
 */
export function every<const C extends readonly [Condition, ...Condition[]]>(
  ...conditions: C
): Condition<ColumnsOf<C[number]>>;
export function every<const M extends readonly [Member, ...Member[]]>(
  ...gates: M
): Gate<RequiredByOne<M>, ScopeOf<M[number]>, PlaceOf<M[number]>>;
export function every(...members: readonly unknown[]): any {
  if (areConditions(members)) return allOf(members);
  const nodes = nodesOf("every", members);
  checkScopes("every", "accepts no sign-in method", nodes);
  return gateOf({ kind: "every", of: nodes });
}

/**
 * Opens if one of these opens. The user behind it is signed in if all of them require it. Of conditions, it makes the
 * condition that at least one of them holds.
 *
 * @example
 * ```ts
 * import { PorticoApp, some } from "portico";
 * import { useAuth } from "portico/auth";
 *
 * const auth = some(useAuth({ permissions: ["read:audit"] }), (user) => user.identity === "root");
 * new PorticoApp().get("/audit", { auth }, () => "all quiet");
 * ```
 */
export function some<const C extends readonly [Condition, ...Condition[]]>(
  ...conditions: C
): Condition<ColumnsOf<C[number]>>;
export function some<const M extends readonly [Member, ...Member[]]>(
  ...gates: M
): Gate<RequiredByAll<M>, ScopeOf<M[number]>, PlaceOf<M[number]>>;
export function some(...members: readonly unknown[]): any {
  if (areConditions(members)) return anyOf(members);
  return gateOf({ kind: "some", of: nodesOf("some", members) });
}

/**
 * Opens if this denies access, also to anonymous callers: `not(true)` is for anonymous callers only. A gate that cannot
 * decide, because it failed or a store is down, stays closed. Of a condition, it makes the opposite condition.
 *
 * @example
 * ```ts
 * import { every, not, PorticoApp } from "portico";
 *
 * const auth = every(true, not((user) => user.hasPermission("suspended")));
 * new PorticoApp().get("/profile", { auth }, ({ user }) => user.displayName);
 * ```
 */
export function not<C extends string>(condition: Condition<C>): Condition<C>;
export function not<const M extends Member>(gate: M): Gate<false, AuthScope, PlaceOf<M>>;
export function not(member: unknown): any {
  if (isCondition(member)) return inverse(member);
  return gateOf({ kind: "not", of: nodesOf("not", [member])[0] as GateNode });
}

function areConditions(members: readonly unknown[]): members is readonly Condition[] {
  return members.length > 0 && members.every(isCondition);
}

function nodesOf(owner: string, members: readonly unknown[]): readonly GateNode[] {
  if (members.length === 0) throw new ConfigurationError(owner, "needs at least one gate or condition");
  return members.map((member, at) => {
    const place = `${owner}[${at}]`;
    const node = authRule.read(member) === member ? readGate(place, member as WrittenAuth) : null;
    if (node !== null) return node;
    throw new ConfigurationError(
      place,
      "true, a function of the user, or a gate; conditions are combined only with conditions",
      member,
    );
  });
}
