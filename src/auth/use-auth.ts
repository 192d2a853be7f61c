import { flag, listOf, optional, positiveInteger, type Rule, resolveOptions } from "../core/resolve-options.ts";
import type { Gate } from "../http/context/gate.ts";
import type { BaseContext } from "../http/context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../http/context/http-exception.ts";
import type { Credential } from "../http/identity/credential.ts";
import type { AuthScope, Permission } from "../http/identity/identity.ts";
import { AuthenticationFailed } from "./authentication-failed.ts";
import { PermissionDenied } from "./permission-denied.ts";

/** Whom a gate lets in. */
export interface UseAuthOptions<S extends AuthScope = AuthScope, R extends boolean = boolean> {
  /** The ways of signing in that count; an empty list takes any. @default [] */
  readonly scopes?: readonly S[];
  /** What the user must be allowed to do, all of it; of those in `Permissions`, where there are any. @default [] */
  readonly permissions?: readonly Permission[];
  /** Whether somebody must be signed in; else nobody is let in too. @default true */
  readonly required?: R;
  /**
   * How long ago somebody must have signed in at most, in seconds: for what a session that was left open is not enough for.
   * Tokens and keys tell of no sign-in, and do not pass. @default not looked at
   */
  readonly freshWithin?: number;
}

/** A gate that was meant to be there must not vanish: a list that is present but `undefined` is refused. */
const list = <T>(expected: string): Rule<readonly T[]> & { readonly strict: true } => ({
  ...listOf<T>(expected, (entry) => typeof entry === "string" && entry !== ""),
  strict: true,
});

const useAuthRules = {
  scopes: optional(list<AuthScope>("a list of scopes"), []),
  permissions: optional(list<Permission>("a list of permissions"), []),
  required: optional(flag, true),
  freshWithin: { ...positiveInteger, strict: true as const },
};

/** How soon it is worth asking again when it could not be found out who is calling. */
const RETRY_SECONDS = 5;

/**
 * The gate of a route, a socket or a graph: 401 for nobody and for the wrong way of signing in, 403 for a missing permission,
 * 503 while it is not known who is calling. It judges by `request.user` and `request.scope.auth`.
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
  const { scopes, permissions, required, freshWithin } = resolveOptions("useAuth", options, useAuthRules);

  function check({ identity, services }: BaseContext): void {
    const { user, auth, failure, refusal, challenge, credential } = identity;
    if (!user.isAuthenticated) {
      if (!required) return;
      if (failure === undefined) throw refusal ?? new AuthenticationFailed(undefined, challenge);
      throw new ServiceUnavailable("Who is calling could not be found out", { retryAfterSeconds: RETRY_SECONDS });
    }
    if (scopes.length > 0 && (auth === null || !scopes.includes(auth)))
      throw new AuthenticationFailed("Sign in another way", challenge);
    // A promise, from a class in plain JavaScript, is no yes.
    const missing = permissions.find((permission) => (user.hasPermission(permission) as unknown) !== true);
    if (missing !== undefined) throw new PermissionDenied(undefined, missing);
    if (freshWithin !== undefined && !isFresh(credential, services.clock.now(), freshWithin))
      throw new HttpException(403, "Sign in again", { code: "SIGN_IN_AGAIN" });
  }

  const gate: Gate<boolean> = Object.freeze({ required, scopes, needsIdentity: required, check });
  return gate as Gate<R, [S] extends [never] ? AuthScope : S>;
}

/** Whether somebody signed in for this credential, by a password or the like, no longer ago than that. */
export function isFresh(credential: Credential | undefined, now: number, withinSeconds: number): boolean {
  const { signedInAt } = credential ?? {};
  return signedInAt !== undefined && now - signedInAt < withinSeconds * 1000;
}
