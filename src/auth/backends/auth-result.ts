import type { Credential } from "../../http/identity/credential.ts";
import type { AuthScope } from "../../http/identity/identity.ts";

/** What a backend found: an identity that its credential proves, or nothing. A success without an identity cannot be written. */
export type AuthResult =
  | { readonly success: true; readonly identity: string; readonly scope: AuthScope; readonly credential?: Credential }
  | { readonly success: false; readonly reason?: string; readonly refusal?: Error };

/**
 * Makes the two results.
 *
 * @example
 * ```ts
 * import { AuthResult } from "portico/auth";
 *
 * AuthResult.accept("42", "apikey");
 * AuthResult.decline("the key has expired");
 * ```
 */
export const AuthResult: {
  /** The credential tells what is known of it: when it ends, its name, its own permissions. */
  readonly accept: (identity: string, scope: AuthScope, credential?: Credential) => AuthResult;
  /**
   * The reason is for the log, never for the client. With a refusal, a required gate throws that instead of 401 when no
   * other backend succeeds: for a credential that is good, and must not count for this request.
   */
  readonly decline: (reason?: string, refusal?: Error) => AuthResult;
} = {
  accept: (identity, scope, credential) => ({
    success: true,
    identity,
    scope,
    ...(credential === undefined ? {} : { credential }),
  }),
  decline: (reason, refusal) => ({
    success: false,
    ...(reason === undefined ? {} : { reason }),
    ...(refusal === undefined ? {} : { refusal }),
  }),
};
