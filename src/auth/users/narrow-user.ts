import type { CurrentUser, UserProtocol } from "../../http/identity/identity.ts";
import { PermissionDenied } from "../permission-denied.ts";

/** What says who it is, and nothing of what it may do: read from the user itself, whose class may keep it private. */
const FACTS = ["isAuthenticated", "identity", "displayName", "credentialVersion"] as const;

/** Members that usually grant something beside permissions: `roles`, `hasRole()`, `isAdmin`, and the columns `role` and `is_staff`. */
const GRANTS =
  /^(?:roles?|groups|scopes|privileges|is_?in_?role|has_?(?:any_?|all_?)?roles?|(?:is_?)?(?:admin|administrator|staff|moderator|root|super_?(?:user|admin)))$/i;

/**
 * The user, allowed at most what is listed: what its credential may do and what it may do itself, both. A class that has
 * `narrowedTo` does it itself. Of any other it is a copy, which its methods see as `this`, so a method that asks
 * `this.hasPermission(...)` is narrowed too; one that reads `#private` members throws, for those may be permissions. The copy has
 * no roles, and flags such as `isAdmin` are `false`: a role may stand for more than the credential was given.
 */
export function narrowUser(user: CurrentUser, permissions: readonly string[]): CurrentUser {
  const narrowed = narrow(user, permissions);
  // A class may return the user itself, which others may hold as well.
  if (narrowed !== user) NARROWED.add(narrowed);
  return narrowed;
}

const NARROWED = new WeakSet<object>();

/** Throws 403 for a narrowed user: a session or a token knows the identity alone, and would be allowed everything again. */
export function refuseNarrowed(user: UserProtocol): void {
  if (NARROWED.has(user))
    throw new PermissionDenied("A credential with permissions of its own cannot sign in: sign in another way");
}

function narrow(user: CurrentUser, permissions: readonly string[]): CurrentUser {
  // As the protocol: the class that an application registers need not have it.
  const known: UserProtocol = user;
  const itself: unknown = known.narrowedTo?.(permissions);
  if (itself !== undefined) return itself as CurrentUser;
  const allowed: ReadonlySet<unknown> = new Set(permissions);
  const narrowed = Object.create(Object.getPrototypeOf(user) as object | null) as CurrentUser;
  for (const name of Reflect.ownKeys(user)) take(user, name, narrowed);
  for (const name of FACTS)
    if (!Object.hasOwn(user, name) && name in user) define(narrowed, name, false, () => user[name]);
  for (const name of namesOf(user))
    if (GRANTS.test(name))
      define(narrowed, name, isListed(user, name), () => nothingOf(user[name as keyof CurrentUser]));
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

/** The names of its members, those of its classes among them. */
function namesOf(user: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (
    let at: object | null = user;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return names;
}

/** A value of the same kind that grants nothing, so that code that reads it goes on and denies. */
function nothingOf(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (value instanceof Set) return new Set();
  if (value instanceof Map) return new Map();
  if (typeof value === "object" && value !== null) return {};
  return NOTHING[typeof value];
}
const NOTHING: Readonly<Record<string, unknown>> = { boolean: false, string: "", number: 0, function: () => false };

/** Of a list or a set of permissions those that are allowed. */
function within(allowed: ReadonlySet<unknown>, given: unknown): unknown {
  if (Array.isArray(given)) return given.filter((entry) => allowed.has(entry));
  return given instanceof Set ? new Set([...(given as Set<unknown>)].filter((entry) => allowed.has(entry))) : given;
}
