import { ConfigurationError } from "../../core/configuration-error.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { AuthenticationFailed } from "../../kernel/exceptions/authentication-failed.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import { sessionsOf } from "../../kernel/identity/session-manager.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import type { UserModel } from "../users/user-model.ts";
import type { RefreshFamilies, RefreshOwner } from "./refresh-families.ts";
import { accessToken, refreshFamilies, type TokenPair } from "./token-for-user.ts";
import { type ResolvedTokenOptions, resolveTokenOptions, type TokenOptions } from "./token-options.ts";

/** The options of the refresh functions. Pass the options that `TokenForUser` got. */
export interface RefreshOptions extends TokenOptions {
  readonly refreshStore: KeyValueStore;
}

/**
 * Exchanges a refresh token for a new pair of tokens. The same token returns the same successor for ten seconds, and
 * once more after that while the successor is unused, so neither a lost response nor a second tab signs anyone out. Any
 * other reuse means that the token was copied, and revokes every token of that sign-in.
 *
 * If the tokens belong to a session (`sid`) and `SessionMiddleware` runs, they are valid only while the session is, and
 * a refresh prolongs the session.
 *
 * Throws the same `AuthenticationFailed` for every reason, including a changed `credentialVersion`. Rejects when the
 * store or the user model fails, and with 429 if one family is rotated more than 64 times in ten seconds.
 *
 * @example
 * ```ts
 * import { env, memoryStores, PorticoApp } from "portico";
 * import { rotateRefreshToken, SimpleUser } from "portico/auth";
 *
 * const options = { secret: env("TOKEN_SECRET"), refreshStore: memoryStores().durable };
 *
 * const app = new PorticoApp().post("/refresh", async ({ request, response }) => {
 *   const form = await request.form();
 *   response.header("cache-control", "no-store");
 *   return rotateRefreshToken(form.get("refresh_token"), SimpleUser, options);
 * });
 * ```
 */
export async function rotateRefreshToken(
  token: unknown,
  userModel: UserModel<unknown>,
  options: RefreshOptions,
): Promise<TokenPair> {
  const { families, resolved } = prepare("rotateRefreshToken", options);
  const rotation = await families.rotate(token, async (owner) =>
    admit(await userModel.loadUser(owner.identity), owner),
  );
  if (rotation === null) throw new AuthenticationFailed("The refresh token is not valid");
  return { ...(await accessToken(rotation.owner, resolved)), refresh_token: rotation.token };
}

/** Returns `false` if the password has changed, the user no longer exists or the session has ended. */
async function admit(loaded: unknown, { identity, sid, version }: RefreshOwner): Promise<boolean> {
  const user = loaded as Partial<UserProtocol> | null;
  if (user === null || user.isAuthenticated === false) return false;
  const { credentialVersion } = user;
  if (version !== undefined && credentialVersion !== undefined && version !== credentialVersion) return false;
  const ctx = currentContext();
  const sessions = ctx === null ? null : sessionsOf.of(ctx);
  if (sid === undefined || !(sessions instanceof RequestSessions)) return true;
  return sessions.prolong(identity, sid);
}

/**
 * Revokes the family of a refresh token, which signs out this device. Returns whether the family existed.
 *
 * @example
 * ```ts
 * import { type RefreshOptions, revokeRefreshToken } from "portico/auth";
 *
 * export function signOut(refreshToken: string, options: RefreshOptions): Promise<boolean> {
 *   return revokeRefreshToken(refreshToken, options);
 * }
 * ```
 */
export async function revokeRefreshToken(token: unknown, options: RefreshOptions): Promise<boolean> {
  return (await endFamilyOf(token, options)) !== null;
}

/** Revokes the family of a refresh token and returns its owner. */
export function endFamilyOf(token: unknown, options: RefreshOptions): Promise<RefreshOwner | null> {
  return prepare("revokeRefreshToken", options).families.revoke(token);
}

/**
 * Revokes all refresh tokens of a user in one write, which signs out every device, for example after a password change.
 *
 * @example
 * ```ts
 * import { type RefreshOptions, revokeRefreshTokensOf, type UserProtocol } from "portico/auth";
 *
 * export function signOutEverywhere(user: UserProtocol, options: RefreshOptions): Promise<void> {
 *   return revokeRefreshTokensOf(user.identity, options);
 * }
 * ```
 */
export async function revokeRefreshTokensOf(identity: string, options: RefreshOptions): Promise<void> {
  await prepare("revokeRefreshTokensOf", options).families.revokeAll(identity);
}

function prepare(
  owner: string,
  options: RefreshOptions,
): { readonly families: RefreshFamilies; readonly resolved: ResolvedTokenOptions } {
  const resolved = resolveTokenOptions(owner, options);
  if (resolved.refreshStore === undefined) throw new ConfigurationError(`${owner}.refreshStore`, "is missing");
  return { families: refreshFamilies(resolved.refreshStore, resolved), resolved };
}
