import { PermissionDenied } from "../../kernel/exceptions/permission-denied.ts";
import type { CurrentUser, UserProtocol } from "../../kernel/identity/identity.ts";
import type { AccountUser } from "./account-model.ts";

/**
 * The members that identify the user and grant nothing. They are read from the user itself, whose class may use private
 * fields.
 */
const FACTS: ReadonlySet<string> = new Set<keyof UserProtocol | keyof AccountUser>([
  "isAuthenticated",
  "identity",
  "displayName",
  "credentialVersion",
  // The account routes show them to the caller.
  "email",
  "username",
  "isVerified",
  "isVouchedFor",
]);

/** Members that the runtime calls, with the copy as `this`. */
const CONVERSIONS: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), "toJSON"]);

/**
 * Returns the user restricted to the listed permissions: it may do only what both the credential and the user may. A
 * class with `narrowedTo` implements this itself. For any other class the result is a copy with the facts above, those that
 * the class lists in `narrowedFacts`, the permissions that both have, and no roles. Every other member may grant or forbid something, in
 * a way that nothing here can know, so reading it throws: a gate then denies, and a handler fails.
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
  const kept = new Set(["narrowedFacts", ...(known.narrowedFacts ?? [])]);
  const narrowed = Object.create(Object.getPrototypeOf(user) as object | null) as CurrentUser;
  for (const name of namesOf(user)) {
    if (FACTS.has(name)) define(narrowed, name, isListed(user, name), () => user[name as keyof CurrentUser]);
    else if (kept.has(name)) take(user, name, narrowed);
    else if (!CONVERSIONS.has(name)) define(narrowed, name, false, () => deny(user, name));
  }
  keepEntries(user, narrowed, "permissions", allowed);
  // A role may allow more than the credential, so none is left. Its permissions are among those of the user.
  keepEntries(user, narrowed, "roles", new Set());
  // Only `true` allows: a class in plain JavaScript may return a promise, which is truthy.
  const hasPermission = (permission: string): boolean =>
    allowed.has(permission) && (user.hasPermission(permission) as unknown) === true;
  define(narrowed, "hasPermission", isListed(user, "hasPermission"), () => hasPermission);
  return narrowed;
}

/**
 * An empty value would not do: `false` denies for `isAdmin`, but allows for `isSuspended`. A gate that fails stays closed, also
 * inside `not`, which would turn a 403 into access.
 */
function deny(user: object, name: string): never {
  const model = (user.constructor as { readonly name?: string } | undefined)?.name ?? "User";
  throw new TypeError(
    `${model}.${name} is not available to a credential with its own permissions: list "${name}" in narrowedFacts if it grants nothing, or implement narrowedTo`,
  );
}

/** Copies an own member. An inherited one runs with the copy as `this`. */
function take(user: object, name: string, narrowed: object): void {
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

/** Replaces a list or a set by one with the allowed entries. Values of another kind stay denied. */
function keepEntries(user: object, narrowed: object, name: string, allowed: ReadonlySet<unknown>): void {
  const given: unknown = (user as Readonly<Record<string, unknown>>)[name];
  if (Array.isArray(given))
    define(narrowed, name, isListed(user, name), () => given.filter((entry) => allowed.has(entry)));
  else if (given instanceof Set)
    define(narrowed, name, isListed(user, name), () => new Set([...given].filter((entry) => allowed.has(entry))));
}
