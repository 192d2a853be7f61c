import type { Credential } from "./credential.ts";

/** What every user object offers, whatever it is stored in. */
export interface UserProtocol {
  readonly isAuthenticated: boolean;
  /** Who it is, always as a string. */
  readonly identity: string;
  readonly displayName: string;
  /** Never a promise: `if (user.hasPermission("x"))` would always pass. Permissions are loaded with the user. */
  hasPermission(permission: string): boolean;
  /**
   * The generation of the user's credentials, for models that keep one. Tokens carry it, and one of an older generation does
   * not sign in: raise it when a password changes.
   */
  readonly credentialVersion?: number;
  /**
   * The same user, allowed at most these and what it is allowed anyway: asked for when a credential, such as an API key, has
   * permissions of its own. Only a class whose methods read `#private` members needs it; of others a copy is made that asks
   * for both.
   */
  narrowedTo?(permissions: readonly string[]): UserProtocol;
}

/** Nobody: what `request.user` is when no one is signed in. */
export class AnonymousUser implements UserProtocol {
  readonly isAuthenticated = false as const;
  readonly identity = "" as const;
  readonly displayName = "" as const;

  hasPermission(_permission: string): false {
    return false;
  }
}

/**
 * Names the application's user class, once: `request.user`, `ctx.user` and every gate are typed by it.
 *
 * The file that says so must itself import from `portico`.
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

/** The ways of signing in, by the scope string of their backend. Interfaces merge: a package can add its own. */
export interface Scopes {
  jwt: true;
  session: true;
  apikey: true;
}
/** The scope string of a backend. */
export type AuthScope = Extract<keyof Scopes, string>;

/**
 * The permissions that the application knows: once one is registered, a gate that asks for another does not compile. While
 * there is none, gates take any text.
 *
 * The file that says so must itself import from `portico`.
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
/** What a gate may ask for: a registered permission, or any text while none is registered. */
export type Permission = [keyof Permissions] extends [never] ? string : Extract<keyof Permissions, string>;

/** What a registered class becomes that is no user: an error wherever it is read, never a silent fallback. */
export interface Misfit<U> {
  readonly "Register.user must implement UserProtocol": U;
}
/** The registered user, or `UserProtocol` while none is registered. */
export type CurrentUser = Register extends { user: infer U } ? (U extends UserProtocol ? U : Misfit<U>) : UserProtocol;
/** Who is calling: the registered user or nobody. `isAuthenticated` tells them apart. */
export type Caller = CurrentUser | AnonymousUser;

/** Who is calling, as authentication found it out. */
export interface Identity {
  readonly user: Caller;
  /** Which backend said so; `null` for nobody. */
  readonly auth: AuthScope | null;
  /** What is known of the credential; none for nobody. */
  readonly credential?: Credential;
  /**
   * Looks again whether the credential still counts, for what stays open: `false` when it does not. When it does, the context
   * has the user as it is now, with the permissions of this moment. Rejects while it cannot be found out.
   */
  readonly recheck?: () => Promise<boolean>;
  /** Why it could not be found out, when a backend failed and none succeeded: neither somebody nor surely nobody. */
  readonly failure?: unknown;
  /** Whether a credential was shown that does not count, such as an expired token: a socket is not opened with it. */
  readonly isRejected?: boolean;
  /** What a required gate throws instead of 401: there was a good credential, and it must not count for this request. */
  readonly refusal?: Error;
  /** What `WWW-Authenticate` says when this is not enough. */
  readonly challenge?: string;
}

export const NOBODY: Identity = Object.freeze({ user: new AnonymousUser(), auth: null });
