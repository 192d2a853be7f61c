import type { Credential } from "../../kernel/identity/credential.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";

/**
 * The result of a backend: an authenticated identity, or a decline. The type rules out a success without an identity.
 */
export type AuthResult =
  | { readonly success: true; readonly identity: string; readonly scope: AuthScope; readonly credential?: Credential }
  | { readonly success: false; readonly reason?: string; readonly refusal?: Error };

/**
 * Creates the two kinds of results.
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
  /** The credential describes its expiry, its id and its own permissions. */
  readonly accept: (identity: string, scope: AuthScope, credential?: Credential) => AuthResult;
  /**
   * The reason is logged and never sent to the client. With a refusal, a required gate throws it instead of 401 if no
   * other backend succeeds: for a valid credential that must not be accepted for this request.
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
