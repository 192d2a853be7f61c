import type { Credential } from "./credential.ts";

/** The members of every user object, regardless of its storage. */
export interface UserProtocol {
  readonly isAuthenticated: boolean;
  /** A unique id, always as a string. */
  readonly identity: string;
  readonly displayName: string;
  /** Never a promise, because `if (user.hasPermission("x"))` would always pass. Permissions are loaded with the user. */
  hasPermission(permission: string): boolean;
  /**
   * The generation of the user's credentials, for models that store one. Tokens carry it, and a token of an older generation is
   * invalid. Increase it when a password changes.
   */
  readonly credentialVersion?: number;
  /**
   * The names of further members that grant nothing, such as `email`. They stay available when a credential, such as an API key,
   * has its own permissions. All other members are then denied, because they may grant more than the credential.
   */
  readonly narrowedFacts?: readonly string[];
  /**
   * This user, limited to these of its permissions. It is called when a credential, such as an API key, has its own
   * permissions. Only a class whose facts read `#private` members, or that restricts its roles itself, needs it; for others a copy is
   * made that checks both.
   */
  narrowedTo?(permissions: readonly string[]): UserProtocol;
}

/** The user when no one is signed in, as in `request.user`. */
export class AnonymousUser implements UserProtocol {
  readonly isAuthenticated = false as const;
  readonly identity = "" as const;
  readonly displayName = "" as const;

  hasPermission(_permission: string): false {
    return false;
  }
}

/**
 * Registers the application's user class, once: it types `request.user`, `ctx.user` and every gate.
 *
 * The file with the declaration must itself import from `portico`.
 *
 * @example
 * ```ts
 * import type { UserProtocol } from "portico";
 *
 * declare class User implements UserProtocol {
 *   readonly isAuthenticated: true;
 *   readonly identity: string;
 *   readonly displayName: string;
 *   readonly email: string;
 *   hasPermission(permission: string): boolean;
 * }
 *
 * declare module "portico" {
 *   interface Register {
 *     user: User;
 *   }
 * }
 * ```
 */
// biome-ignore lint: an interface without members is what declaration merging fills.
export interface Register {}

/** The authentication methods, by the scope string of their backend. Interfaces merge, so a package can add its own. */
export interface Scopes {
  jwt: true;
  session: true;
  apikey: true;
}
/** The scope string of a backend. */
export type AuthScope = Extract<keyof Scopes, string>;

/**
 * The permissions of the application. Once one is registered, a gate that requires an unregistered one is a compile-time error.
 * While there is none, gates accept any text.
 *
 * The file with the declaration must itself import from `portico`.
 *
 * @example
 * ```ts
 * import type { Permission } from "portico";
 *
 * declare module "portico" {
 *   interface Permissions {
 *     "read:books": true;
 *     "write:books": true;
 *   }
 * }
 *
 * export const editor: readonly Permission[] = ["read:books", "write:books"];
 * ```
 */
// biome-ignore lint: an interface without members is what declaration merging fills.
export interface Permissions {}
/** The permissions that a gate may require: a registered one, or any text while none is registered. */
export type Permission = [keyof Permissions] extends [never] ? string : Extract<keyof Permissions, string>;

/** Replaces a registered class that is not a valid user type: an error wherever it is read, never a silent fallback. */
export interface Misfit<U> {
  readonly "Register.user must implement UserProtocol": U;
}
/** The registered user, or `UserProtocol` while none is registered. */
export type CurrentUser = Register extends { user: infer U } ? (U extends UserProtocol ? U : Misfit<U>) : UserProtocol;
/** The caller: the registered user, or an `AnonymousUser`. `isAuthenticated` tells them apart. */
export type Caller = CurrentUser | AnonymousUser;

/** The caller's identity, as authentication determined it. */
export interface Identity {
  readonly user: Caller;
  /** The backend that authenticated the caller; `null` for an anonymous one. */
  readonly auth: AuthScope | null;
  /** The credential; anonymous callers have none. */
  readonly credential?: Credential;
  /**
   * Checks the credential of an open connection again, and returns whether it is still valid. If it is, the context has the
   * current user, with the current permissions. Rejects while the credential cannot be checked.
   */
  readonly recheck?: () => Promise<boolean>;
  /** The error if a backend failed and none succeeded: the caller is then neither authenticated nor certainly anonymous. */
  readonly failure?: unknown;
  /** Whether the caller sent an invalid credential, such as an expired token, with which no socket is opened. */
  readonly isRejected?: boolean;
  /** The error that a required gate throws instead of 401: the credential is valid, but must not be used for this request. */
  readonly refusal?: Error;
  /** The `WWW-Authenticate` header of a rejection. */
  readonly challenge?: string;
}

export const ANONYMOUS: Identity = Object.freeze({ user: new AnonymousUser(), auth: null });
