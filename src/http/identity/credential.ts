import { type Topic, topic } from "../../stores/pub-sub.ts";

/** What is known of the credential that a caller showed: how long it counts, and by what name it is revoked. */
export interface Credential {
  /** Names it without giving it away, for example `session:<handle>`. */
  readonly id?: string;
  /** When it ends by itself, in milliseconds since 1970. A socket is closed at that moment. */
  readonly expiresAt?: number;
  /** When somebody signed in for it, by a password or the like, in milliseconds since 1970. */
  readonly signedInAt?: number;
  /** What it may do at most; of its user's permissions only these count. Without the list, all of them. */
  readonly permissions?: readonly string[];
  /** Which of its user's generations of credentials it belongs to. A user with a newer one is not signed in by it. */
  readonly version?: number;
  /**
   * Counts one more use, where uses are limited: each further operation of a batch, and each operation on a socket. Throws 429 for
   * one too many. The backend itself counts the request that brought the credential.
   */
  readonly use?: () => Promise<void>;
}

/** What is no longer a credential: one of them, or all that a user has. */
export interface Revocation {
  /** The identity of its user. */
  readonly user: string;
  /** The one that was revoked; without it, each of the user's. */
  readonly credential?: string;
}

/**
 * Where revocations are told: an open socket whose credential is named here is closed, in every process.
 *
 * @example
 * ```ts
 * import { memoryStores, revoked } from "portico";
 *
 * await memoryStores().bus.publish(revoked, { user: "42" });
 * ```
 */
export const revoked: Topic<Revocation> = topic<Revocation>("portico.revoked");
