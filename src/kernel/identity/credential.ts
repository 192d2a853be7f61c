import { type Topic, topic } from "../../stores/pub-sub.ts";

/** How strongly a user has signed in, beyond one factor: `"mfa"` is two factors, such as a password and a code. */
export type AssuranceLevel = "mfa";

/** A caller's credential: how long it is valid, and the id by which it is revoked. */
export interface Credential {
  /** Identifies it without revealing it, for example `session:<handle>`. */
  readonly id?: string;
  /** When it expires, in milliseconds since 1970. A socket is closed at that moment. */
  readonly expiresAt?: number;
  /** When its user signed in, for example with a password, in milliseconds since 1970. */
  readonly signedInAt?: number;
  /** How strongly its user signed in. Without it, with one factor. */
  readonly level?: AssuranceLevel;
  /** The identity of the administrator who acts as its user. */
  readonly impersonator?: string;
  /** Limits its user's permissions to these. Without the list, all of them apply. */
  readonly permissions?: readonly string[];
  /** The generation of credentials it belongs to. It is invalid once its user has a newer one. */
  readonly version?: number;
  /** The claims of a token, as its issuer signed them. Read them as own members, and check their types. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /**
   * Counts one more use, if uses are limited: each further operation of a batch, and each operation on a socket. Throws 429
   * above the limit. The backend itself counts the request that carried the credential.
   */
  readonly use?: () => Promise<void>;
}

/** A revoked credential, or all credentials of a user. */
export interface Revocation {
  /** The identity of its user. */
  readonly user: string;
  /** The revoked credential; without it, all of the user's. */
  readonly credential?: string;
}

/**
 * The topic of revocations. Every process closes the open sockets of a revoked credential.
 *
 * @example
 * ```ts
 * import { memoryStores, revoked } from "portico";
 *
 * await memoryStores().bus.publish(revoked, { user: "42" });
 * ```
 */
export const revoked: Topic<Revocation> = topic<Revocation>("portico.revoked");
