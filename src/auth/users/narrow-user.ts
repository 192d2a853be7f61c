import type { CurrentUser, UserProtocol } from "../../http/identity.ts";

/** What says who it is, and nothing of what it may do: read from the user itself, whose class may keep it private. */
const FACTS = ["isAuthenticated", "identity", "displayName", "credentialVersion"] as const;

/**
 * The user, allowed at most what is listed: what its credential may do and what it may do itself, both. A class that has
 * `narrowedTo` does it itself. Of any other it is a copy, which its methods see as `this`, so a method that asks
 * `this.hasPermission(...)` is narrowed too; one that reads `#private` members throws, for those may be permissions.
 */
export function narrowUser(user: CurrentUser, permissions: readonly string[]): CurrentUser {
  // As the protocol: the class that an application registers need not have it.
  const known: UserProtocol = user;
  const itself: unknown = known.narrowedTo?.(permissions);
  if (itself !== undefined) return itself as CurrentUser;
  const allowed: ReadonlySet<unknown> = new Set(permissions);
  const narrowed = Object.create(Object.getPrototypeOf(user) as object | null) as CurrentUser;
  for (const name of Reflect.ownKeys(user)) take(user, name, narrowed);
  for (const name of FACTS)
    if (!Object.hasOwn(user, name) && name in user) define(narrowed, name, false, () => user[name]);
  if ("permissions" in user)
    define(narrowed, "permissions", isListed(user, "permissions"), () => within(allowed, user["permissions"]));
  // Only true is a yes: a promise from a class in plain JavaScript is none.
  const hasPermission = (permission: string): boolean =>
    allowed.has(permission) && (user.hasPermission(permission) as unknown) === true;
  define(narrowed, "hasPermission", isListed(user, "hasPermission"), () => hasPermission);
  return narrowed;
}

/** A member of its own, as it is: what is frozen there need not be so here. */
function take(user: object, name: string | symbol, narrowed: object): void {
  const member = Reflect.getOwnPropertyDescriptor(user, name);
  if (member !== undefined) Object.defineProperty(narrowed, name, { ...member, configurable: true });
}

function define(narrowed: object, name: string, enumerable: boolean, get: () => unknown): void {
  Object.defineProperty(narrowed, name, { get, enumerable, configurable: true });
}

function isListed(user: object, name: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(user, name);
}

/** Of a list or a set of permissions those that are allowed. */
function within(allowed: ReadonlySet<unknown>, given: unknown): unknown {
  if (Array.isArray(given)) return given.filter((entry) => allowed.has(entry));
  return given instanceof Set ? new Set([...(given as Set<unknown>)].filter((entry) => allowed.has(entry))) : given;
}
