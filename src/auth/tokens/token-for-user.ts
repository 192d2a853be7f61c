import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { UserProtocol } from "../../http/identity/identity.ts";
import { refuseNarrowed } from "../users/narrow-user.ts";
import { RefreshFamilies, type RefreshOwner } from "./refresh-families.ts";
import { RefreshTokenKeys } from "./refresh-token.ts";
import { type ResolvedTokenOptions, resolveTokenOptions, type TokenOptions } from "./token-options.ts";
import { VERSION_CLAIM } from "./version-claim.ts";

/** What a sign-in answers, in the words of OAuth. */
export interface TokenPair {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds that the access token lives. */
  readonly expires_in: number;
  /** Where a refresh store is given. */
  readonly refresh_token?: string;
}

/**
 * Makes the tokens of a user who has signed in: an access token for `JWTAuthBackend`, and a refresh token where
 * `refreshStore` is given. The access token names the user in `sub`, so the backend needs `identifier: "sub"`. Of a user with a
 * `credentialVersion` it carries that as `credential_version`: once the user has another, neither token counts.
 *
 * Throws `TypeError` for a user who is nobody, 403 for one whose own credential is narrowed, such as an API key with permissions, `ConfigurationError` for wrong options, without showing the secret or the key.
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
      throw new TypeError("TokenForUser takes a user with an identity: nobody gets no token");
    refuseNarrowed(user);
    this.#options = resolveTokenOptions("TokenForUser", options);
    const { sid } = this.#options;
    const { identity, credentialVersion } = user;
    this.#owner = {
      identity,
      ...(sid === undefined ? {} : { sid }),
      ...(credentialVersion === undefined ? {} : { version: credentialVersion }),
    };
  }

  /** Begins a family of refresh tokens each time it is called. Rejects when the store does. */
  async tokenPair(): Promise<TokenPair> {
    const { refreshStore } = this.#options;
    const access = await accessToken(this.#owner, this.#options);
    if (refreshStore === undefined) return access;
    return { ...access, refresh_token: await refreshFamilies(refreshStore, this.#options).begin(this.#owner) };
  }
}

/** An access token alone: what a rotated refresh token is answered with, too. */
export async function accessToken(
  { identity, sid, version }: RefreshOwner,
  { signer, issuer, audience, accessLifetime, clock }: ResolvedTokenOptions,
): Promise<TokenPair> {
  const now = Math.floor(clock.now() / 1000);
  const claims = {
    sub: identity,
    iat: now,
    exp: now + accessLifetime,
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
  return { access_token: token, token_type: "Bearer", expires_in: accessLifetime };
}

export function refreshFamilies(
  store: NonNullable<ResolvedTokenOptions["refreshStore"]>,
  { refreshSecret, refreshIdle, refreshLifetime, strictRefresh, onReuse, clock }: ResolvedTokenOptions,
): RefreshFamilies {
  return new RefreshFamilies({
    store,
    keys: new RefreshTokenKeys(refreshSecret),
    clock,
    idleMs: refreshIdle * 1000,
    lifetimeMs: refreshLifetime * 1000,
    strict: strictRefresh,
    onReuse,
  });
}
