import {
  flag,
  type OptionRule,
  oneOf,
  optional,
  positiveInteger,
  resolveOptions,
  strict,
  textList,
} from "../../core/resolve-options.ts";
import type { BaseContext } from "../context/http-context.ts";
import { AuthenticationFailed } from "../exceptions/authentication-failed.ts";
import { HttpException } from "../exceptions/http-exception.ts";
import { PermissionDenied } from "../exceptions/permission-denied.ts";
import { SecondFactorRequired } from "../exceptions/second-factor-required.ts";
import type { AssuranceLevel, Credential } from "../identity/credential.ts";
import type { AuthScope, Permission } from "../identity/identity.ts";
import type { Gate } from "./gate.ts";
import { gateOf } from "./gate-of.ts";
import { Refusal, refuseAnonymous, type Verdict } from "./refusal.ts";

/** The callers that a gate accepts. */
export interface UseAuthOptions<S extends AuthScope = AuthScope, R extends boolean = boolean> {
  /** The accepted sign-in methods. An empty list accepts any. @default [] */
  readonly scopes?: readonly S[];
  /**
   * The permissions that the user must have, all of them. If `Permissions` is declared, only its members. @default []
   */
  readonly permissions?: readonly Permission[];
  /** Whether the caller must be signed in. `false` accepts anonymous callers too. @default true */
  readonly required?: R;
  /**
   * The maximum age of the sign-in, in seconds, for actions that an unattended session must not perform. Credentials
   * that record no sign-in time, such as API keys, are rejected. @default not checked
   */
  readonly freshSeconds?: number;
  /**
   * `"mfa"` requires a sign-in with two factors. Only sessions and tokens of the account routes have this level; API
   * keys and tokens of other issuers are rejected, whatever their claims say. @default one factor
   */
  readonly level?: AssuranceLevel;
}

/** The option that takes an assurance level. */
export const assuranceLevel: OptionRule<AssuranceLevel> & { readonly strict: true } = strict(oneOf("mfa"));

const useAuthRules = {
  // Strict: a missing variable must not remove a check.
  scopes: strict(optional(textList<AuthScope>("a list of scopes"), [])),
  permissions: strict(optional(textList<Permission>("a list of permissions"), [])),
  required: optional(flag, true),
  freshSeconds: strict(positiveInteger),
  level: assuranceLevel,
};

/**
 * A gate, that is an auth check, for the option `auth`. It rejects with 401 for an anonymous caller and for
 * a sign-in method that is not accepted, 403 for a missing permission or second factor, and 503 while authentication is unavailable. It
 * checks `request.user` and `request.scope.auth`.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 *
 * const app = new PorticoApp();
 * app.get("/books", { auth: useAuth({ scopes: ["jwt", "session"], permissions: ["read:books"] }) }, () => []);
 * app.get("/hello", { auth: useAuth({ required: false }) }, ({ user }) => `hello ${user.displayName}`);
 * ```
 */
export function useAuth<S extends AuthScope = AuthScope, R extends boolean = true>(
  options: UseAuthOptions<S, R> = {},
): Gate<R, [S] extends [never] ? AuthScope : S> {
  const { scopes, permissions, required, freshSeconds, level } = resolveOptions("useAuth", options, useAuthRules);

  function judge({ identity, services }: BaseContext): Verdict {
    // The members are read where they decide, so that the audit sees which of them do.
    const { user } = identity;
    if (!user.isAuthenticated) return required ? refuseAnonymous(identity) : true;
    if (scopes.length > 0 && !scopes.some((scope) => scope === identity.auth))
      return denied(
        new AuthenticationFailed("This sign-in method is not accepted here. Use another one.", identity.challenge),
      );
    // Only `true` allows: a class in plain JavaScript may return a promise, which is truthy.
    const missing = permissions.find((permission) => (user.hasPermission(permission) as unknown) !== true);
    if (missing !== undefined) return denied(new PermissionDenied(undefined, missing));
    if (level !== undefined && identity.credential?.level !== level) return denied(new SecondFactorRequired());
    if (freshSeconds !== undefined && !isFresh(identity.credential, services.clock.now(), freshSeconds))
      return denied(new HttpException(403, "A recent sign-in is required. Sign in again.", { code: "SIGN_IN_AGAIN" }));
    return true;
  }

  const requires = { permissions, freshSeconds, level };
  return Object.freeze(gateOf({ kind: "caller", required, scopes, needsIdentity: required, requires, judge })) as Gate<
    R,
    [S] extends [never] ? AuthScope : S
  >;
}

const denied = (error: Error): Refusal => new Refusal(error, false);

/** Whether the sign-in behind this credential is recent enough. */
export function isFresh(credential: Credential | undefined, now: number, withinSeconds: number): boolean {
  const { signedInAt } = credential ?? {};
  return signedInAt !== undefined && now - signedInAt < withinSeconds * 1000;
}
