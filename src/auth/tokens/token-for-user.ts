import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { currentContext } from "../../kernel/context/current-context.ts";
import { noteSecret } from "../../kernel/idempotency/may-be-stored.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import { impersonating } from "../callers/impersonating.ts";
import { refuseNarrowed } from "../users/narrow-user.ts";
import { RefreshFamilies, type RefreshOwner } from "./refresh-families.ts";
import { RefreshTokenKeys } from "./refresh-token.ts";
import { type ResolvedTokenOptions, resolveTokenOptions, type TokenOptions } from "./token-options.ts";
import { VERSION_CLAIM } from "./version-claim.ts";

/** The response of a sign-in, in the format of OAuth 2.0. */
export interface TokenPair {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** The lifetime of the access token in seconds. */
  readonly expires_in: number;
  /** Present if a refresh store is set. */
  readonly refresh_token?: string;
}

/**
 * Issues tokens for a user who has signed in: an access token for `JWTAuthBackend`, and a refresh token if
 * `refreshStore` is set. The access token contains the identity in `sub`, so the backend needs `identifier: "sub"`. If
 * the user has a `credentialVersion`, the token contains it as `credential_version`, and both tokens become invalid
 * when the version changes.
 *
 * Throws `TypeError` for an anonymous user, 403 for a user with a restricted credential, such as an API key with
 * permissions, or while an administrator acts as the user, and `ConfigurationError` for invalid options. No error shows the secret or the key.
 *
 * @example
 * ```ts
 * import { env, memoryStores } from "portico";
 * import { SimpleUser, TokenForUser } from "portico/auth";
 *
 * const options = { secret: env("TOKEN_SECRET"), audience: "bookshop", refreshStore: memoryStores().durable };
 * const { access_token, refresh_token } = await new TokenForUser(new SimpleUser("ann"), options).tokenPair();
 * ```
 */
export class TokenForUser {
  readonly #owner: RefreshOwner;
  readonly #options: ResolvedTokenOptions;

  constructor(user: UserProtocol, options: TokenOptions) {
    if (!user.isAuthenticated || typeof user.identity !== "string" || user.identity === "")
      throw new TypeError("TokenForUser requires a signed-in user with an identity");
    refuseNarrowed(user);
    if (currentContext()?.isImpersonated === true) throw impersonating();
    this.#options = resolveTokenOptions("TokenForUser", options);
    const { sid } = this.#options;
    const { identity, credentialVersion } = user;
    this.#owner = {
      identity,
      ...(sid === undefined ? {} : { sid }),
      ...(credentialVersion === undefined ? {} : { version: credentialVersion }),
    };
  }

  /** Issues the tokens. Each call begins a new family of refresh tokens. Rejects when the store fails. */
  async tokenPair(): Promise<TokenPair> {
    const { refreshStore } = this.#options;
    const access = await accessToken(this.#owner, this.#options);
    if (refreshStore === undefined) return access;
    return { ...access, refresh_token: await refreshFamilies(refreshStore, this.#options).begin(this.#owner) };
  }
}

/** Signs an access token, for a sign-in or a refresh. */
export async function accessToken(
  { identity, sid, version }: RefreshOwner,
  { signer, issuer, audience, accessSeconds, clock }: ResolvedTokenOptions,
): Promise<TokenPair> {
  noteSecret();
  const now = Math.floor(clock.now() / 1000);
  const claims = {
    sub: identity,
    iat: now,
    exp: now + accessSeconds,
    jti: randomUUID(),
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(audience === undefined ? {} : { aud: audience }),
    ...(sid === undefined ? {} : { sid }),
    ...(version === undefined ? {} : { [VERSION_CLAIM]: version }),
  };
  const { alg, kid, key } = signer;
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg, typ: "at+jwt", ...(kid === undefined ? {} : { kid }) })
    .sign(key);
  return { access_token: token, token_type: "Bearer", expires_in: accessSeconds };
}

export function refreshFamilies(
  store: NonNullable<ResolvedTokenOptions["refreshStore"]>,
  { refreshSecret, refreshIdleSeconds, refreshAbsoluteSeconds, strictRefresh, onReuse, clock }: ResolvedTokenOptions,
): RefreshFamilies {
  return new RefreshFamilies({
    store,
    keys: new RefreshTokenKeys(refreshSecret),
    clock,
    idleMs: refreshIdleSeconds * 1000,
    lifetimeMs: refreshAbsoluteSeconds * 1000,
    strict: strictRefresh,
    onReuse,
  });
}
