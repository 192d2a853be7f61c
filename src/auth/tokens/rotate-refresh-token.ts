import { ConfigurationError } from "../../core/configuration-error.ts";
import { currentContext } from "../../http/context/current-context.ts";
import type { UserProtocol } from "../../http/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { AuthenticationFailed } from "../authentication-failed.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import type { UserModel } from "../users/user-model.ts";
import type { RefreshFamilies, RefreshOwner } from "./refresh-families.ts";
import { accessToken, refreshFamilies, type TokenPair } from "./token-for-user.ts";
import { type ResolvedTokenOptions, resolveTokenOptions, type TokenOptions } from "./token-options.ts";

/** How refresh tokens are taken: as `TokenForUser` made them. */
export interface RefreshOptions extends TokenOptions {
  readonly refreshStore: KeyValueStore;
}

/**
 * Answers a refresh token with a new pair, its successor among it. The same token gets the same successor for ten seconds, and
 * once more after that while the successor is unused: neither a lost response nor a second tab signs anyone out. Any other
 * repetition means that the token was copied, and every token of the family is refused from then on.
 *
 * Where the tokens belong to a session (`sid`) and `SessionMiddleware` runs, they count as long as that lives, and this is a use of it.
 *
 * Throws `AuthenticationFailed`, the same for every reason, also when the user's `credentialVersion` has changed; rejects when the store or the model does, and with 429 when
 * one family turns more than 64 times in ten seconds.
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
  if (!rotation.success) throw new AuthenticationFailed("The refresh token is not valid");
  return { ...(await accessToken(rotation.owner, resolved)), refresh_token: rotation.token };
}

/** Whom a sign-in of that time still speaks for; `null` once the password is another, the user is not there, or the session is over. */
async function admit(loaded: unknown, { identity, sid, version }: RefreshOwner): Promise<object | null> {
  const user = loaded as Partial<UserProtocol> | null;
  if (user === null || user.isAuthenticated === false) return null;
  const { credentialVersion } = user;
  if (version !== undefined && credentialVersion !== undefined && version !== credentialVersion) return null;
  const sessions = currentContext()?.sessions;
  if (sid === undefined || !(sessions instanceof RequestSessions)) return user;
  return (await sessions.prolong(identity, sid)) ? user : null;
}

/**
 * Ends the family of a refresh token: signs out here. Gives whether there was one.
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

/** The same; gives whom the family was made for. */
export function endFamilyOf(token: unknown, options: RefreshOptions): Promise<RefreshOwner | null> {
  return prepare("revokeRefreshToken", options).families.revoke(token);
}

/**
 * Ends every family of refresh tokens of a user, in one write: signs out everywhere, after a change of the password.
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
