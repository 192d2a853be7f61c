import { PermissionDenied } from "../../http/exceptions/permission-denied.ts";
import type { CurrentUser, UserProtocol } from "../../http/identity/identity.ts";

/**
 * The members that identify the user and grant nothing. They are read from the user itself, whose class may use private
 * fields.
 */
const FACTS = ["isAuthenticated", "identity", "displayName", "credentialVersion"] as const;

/**
 * Members that usually grant access besides permissions: `roles`, `hasRole()`, `isAdmin`, and the columns `role` and
 * `is_staff`.
 */
const GRANTS =
  /^(?:roles?|groups|scopes|privileges|is_?in_?role|has_?(?:any_?|all_?)?roles?|(?:is_?)?(?:admin|administrator|staff|moderator|root|super_?(?:user|admin)))$/i;

/**
 * Returns the user restricted to the listed permissions: it may do only what both the credential and the user may. A
 * class with `narrowedTo` implements this itself. For any other class the result is a copy. Its methods run with the
 * copy as `this`, so a method that calls `this.hasPermission(...)` is restricted too, and one that reads `#private`
 * members throws, because those may hold permissions. The copy has no roles, and flags such as `isAdmin` are `false`,
 * because a role may allow more than the credential.
 */
export function narrowUser(user: CurrentUser, permissions: readonly string[]): CurrentUser {
  const narrowed = narrow(user, permissions);
  // `narrowedTo` may return the user itself, which other requests may share.
  if (narrowed !== user) NARROWED.add(narrowed);
  return narrowed;
}

const NARROWED = new WeakSet<object>();

/** Throws 403 for a narrowed user: a session or token stores only the identity, so it would lift the restriction. */
export function refuseNarrowed(user: UserProtocol): void {
  if (NARROWED.has(user))
    throw new PermissionDenied(
      "A credential with restricted permissions cannot be used to sign in. Use another sign-in method.",
    );
}

function narrow(user: CurrentUser, permissions: readonly string[]): CurrentUser {
  // Typed as the protocol, because the registered class may lack its optional members.
  const known: UserProtocol = user;
  const itself: unknown = known.narrowedTo?.(permissions);
  if (itself !== undefined) return itself as CurrentUser;
  const allowed: ReadonlySet<unknown> = new Set(permissions);
  const narrowed = Object.create(Object.getPrototypeOf(user) as object | null) as CurrentUser;
  for (const name of Reflect.ownKeys(user)) take(user, name, narrowed);
  for (const name of FACTS)
    if (!Object.hasOwn(user, name) && name in user) define(narrowed, name, false, () => known[name]);
  for (const name of namesOf(user))
    if (GRANTS.test(name))
      define(narrowed, name, isListed(user, name), () => nothingOf(user[name as keyof CurrentUser]));
  if ("permissions" in user)
    define(narrowed, "permissions", isListed(user, "permissions"), () => onlyAllowed(allowed, user["permissions"]));
  // Only `true` allows: a class in plain JavaScript may return a promise, which is truthy.
  const hasPermission = (permission: string): boolean =>
    allowed.has(permission) && (user.hasPermission(permission) as unknown) === true;
  define(narrowed, "hasPermission", isListed(user, "hasPermission"), () => hasPermission);
  return narrowed;
}

/** Copies an own member. The copy stays configurable even if the user is frozen, so that it can be replaced. */
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

/** The names of all members, including those of the classes it inherits from. */
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

/** Returns a value of the same kind that grants nothing, so that code that reads it works and denies. */
function nothingOf(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (value instanceof Set) return new Set();
  if (value instanceof Map) return new Map();
  if (typeof value === "object" && value !== null) return {};
  return NOTHING[typeof value];
}
const NOTHING: Readonly<Record<string, unknown>> = { boolean: false, string: "", number: 0, function: () => false };

/** Returns the allowed entries of a list or set of permissions. */
function onlyAllowed(allowed: ReadonlySet<unknown>, given: unknown): unknown {
  if (Array.isArray(given)) return given.filter((entry) => allowed.has(entry));
  return given instanceof Set ? new Set([...(given as Set<unknown>)].filter((entry) => allowed.has(entry))) : given;
}
