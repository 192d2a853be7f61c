import { compactVerify, SignJWT } from "jose";
import { type Clock, systemClock } from "../../core/clock.ts";
import { isProduction } from "../../core/env.ts";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { OpenAPISecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { everyValueOf } from "../../kernel/context/messages.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import { AuthResult } from "../callers/auth-result.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import { HeaderReader, own, parseObject } from "../tokens/token-header.ts";
import type { VerifyingKey, VerifyingKeys } from "../tokens/verifying-keys.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";
import { type JWTAuthOptions, resolveJWTAuthOptions } from "./jwt-auth-options.ts";
import { TokenCache } from "./token-cache.ts";
import { type ClaimRules, isOver, judgeClaims, type TokenClaims, type VerifiedToken } from "./token-claims.ts";

/**
 * Authenticates by a JSON Web Token in `Authorization: Bearer`. The identity is the claim named by `identifier`.
 *
 * A token that is expired, malformed, badly signed or for another audience is declined. Invalid options throw
 * `ConfigurationError`, which never shows the secret.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { AuthenticationMiddleware, JWTAuthBackend, SimpleUser, useAuth } from "portico/auth";
 *
 * const backend = new JWTAuthBackend({ secretKey: env("TOKEN_SECRET"), identifier: "sub", audience: "bookshop" });
 * const app = new PorticoApp().use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
 * app.get("/me", { auth: useAuth({ scopes: ["jwt"] }) }, ({ user }) => user.displayName);
 * ```
 */
export class JWTAuthBackend extends AuthenticationBackend {
  readonly scope: AuthScope;
  readonly #keys: VerifyingKeys;
  readonly #algorithms: string[];
  readonly #rules: ClaimRules;
  readonly #headers: HeaderReader;
  readonly #maxTokenBytes: number;
  readonly #sessions: SessionStore | undefined;
  readonly #isRevoked: ((claims: TokenClaims) => MaybePromise<boolean>) | undefined;
  readonly #cache: TokenCache;
  readonly #clock: Clock | undefined;
  readonly #challenge: string;
  readonly #challengeDeclined: string;
  #hasWarned = false;

  constructor(options: JWTAuthOptions) {
    super();
    const resolved = resolveJWTAuthOptions(options);
    this.scope = resolved.scope;
    this.#keys = resolved.keys;
    this.#algorithms = [...resolved.algorithms];
    this.#rules = resolved;
    this.#headers = new HeaderReader(resolved.typ !== undefined);
    this.#maxTokenBytes = resolved.maxTokenBytes;
    this.#sessions = resolved.sessions;
    this.#isRevoked = resolved.isRevoked;
    this.#cache = new TokenCache(resolved.cache);
    this.#clock = resolved.clock;
    const realm = resolved.realm === undefined ? [] : [`realm="${resolved.realm}"`];
    this.#challenge = ["Bearer", realm.join()].join(" ").trim();
    this.#challengeDeclined = `Bearer ${[...realm, 'error="invalid_token"'].join(", ")}`;
  }

  override carries(request: PorticoRequest): boolean {
    return bearerToken(request) !== null;
  }

  /** Includes an error only if the request carried a token (RFC 6750 section 3.1). */
  override challenge(wasDeclined: boolean): string {
    return wasDeclined ? this.#challengeDeclined : this.#challenge;
  }

  override get headers(): readonly string[] {
    return ["Authorization"];
  }

  override get securityScheme(): OpenAPISecurityScheme {
    return { type: "http", scheme: "bearer", bearerFormat: "JWT" };
  }

  override get warnings(): readonly string[] {
    const { issuer, audience } = this.#rules;
    return issuer === undefined && audience === undefined ? [UNBOUND] : [];
  }

  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const text = bearerToken(request);
    if (text === null) return AuthResult.decline("no bearer token");
    if (text.length > this.#maxTokenBytes) return AuthResult.decline("the token is too long");
    const token = this.#recall(text) ?? (await this.#verify(text));
    if (token === null) return AuthResult.decline("the token is not valid");
    if (token.identity === null) {
      this.#warnOfIdentifier(token.claims);
      return AuthResult.decline(`the token has no claim ${this.#rules.identifier}`);
    }
    if (this.#isRevoked !== undefined && ((await this.#isRevoked(token.claims)) as unknown) !== false)
      return AuthResult.decline("the token is revoked");
    if (this.#sessions !== undefined && !(await isSessionAlive(this.#sessions, token)))
      return AuthResult.decline("the session of the token has ended");
    return AuthResult.accept(token.identity, this.scope, token.credential);
  }

  /**
   * @internal A token for this identity that the backend accepts, for tools that sign stand-ins in. Returns `null` if its keys
   * can only verify.
   */
  async tokenFor(identity: string, claims: { readonly exp: number } & TokenClaims): Promise<string | null> {
    if (!this.#algorithms.includes("HS256")) return null;
    const [key] = await this.#keys.find({ alg: "HS256", kid: undefined });
    if (key === undefined) return null;
    const { identifier, issuer, audience } = this.#rules;
    const named = {
      sub: identity,
      [identifier]: identity,
      ...(issuer === undefined ? {} : { iss: issuer }),
      ...(audience?.[0] === undefined ? {} : { aud: audience[0] }),
    };
    return new SignJWT({ ...claims, ...named }).setProtectedHeader({ alg: "HS256", typ: "at+jwt" }).sign(key);
  }

  #recall(text: string): VerifiedToken | null {
    const token = this.#cache.get(text, this.#keys.version);
    if (token === undefined) return null;
    if (!isOver(token, this.#rules, this.#now)) return token;
    this.#cache.forget(text);
    return null;
  }

  async #verify(text: string): Promise<VerifiedToken | null> {
    const header = this.#headers.read(text);
    if (header === null || !this.#algorithms.includes(header.alg)) return null;
    // Read before the key lookup, so that a token of a key withdrawn in the meantime is not cached under the new set.
    const { version } = this.#keys;
    const found = this.#keys.find(header);
    for (const key of isPromise(found) ? await found : found) {
      const payload = await signedPayload(text, key, this.#algorithms);
      if (payload === null) continue;
      const claims = parseObject(payload);
      const token = claims === null ? null : judgeClaims(Object.freeze(claims), this.#rules, this.#now);
      if (token !== null) this.#cache.set(text, token, version);
      return token;
    }
    return null;
  }

  get #now(): number {
    return (this.#clock ?? currentContext()?.services.clock ?? systemClock).now() / 1000;
  }

  #warnOfIdentifier(claims: TokenClaims): void {
    if (this.#hasWarned || own(claims, "sub") === undefined || isProduction()) return;
    this.#hasWarned = true;
    const { identifier } = this.#rules;
    currentContext()?.log.warn(
      { identifier },
      `a valid token has no claim "${identifier}" but has "sub": set identifier: "sub" on JWTAuthBackend`,
    );
  }
}

const UNBOUND =
  "JWTAuthBackend has neither issuer nor audience: it accepts every token signed with its key, even for other services";

/** A token without `sid` has no session. Using a token does not prolong its session, unlike using a cookie. */
async function isSessionAlive(sessions: SessionStore, { identity, claims }: VerifiedToken): Promise<boolean> {
  const sid = own(claims, "sid");
  if (sid === undefined) return true;
  return typeof sid === "string" && (await sessions.find(sid))?.record.user === identity;
}

/** Returns the signed payload, or `null` if this key did not sign it. */
async function signedPayload(token: string, key: VerifyingKey, algorithms: string[]): Promise<Uint8Array | null> {
  try {
    return (await compactVerify(token, key, { algorithms })).payload;
  } catch {
    return null;
  }
}

/** One token after the scheme, which is case-insensitive (RFC 9110 section 11.1), separated only by spaces. */
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+)$/i;

/**
 * Returns the token of `Authorization: Bearer`, or `null` if there is none or the header has several different values.
 */
function bearerToken(request: PorticoRequest): string | null {
  const value = authorization(request);
  return value === null ? null : (BEARER.exec(value)?.[1] ?? null);
}

/** Node keeps only the first of several `Authorization` headers, and a proxy may have checked another one. */
function authorization(request: PorticoRequest): string | null {
  const first = request.headers["authorization"];
  if (first === undefined) return null;
  return everyValueOf(request, "authorization").every((value) => value === first) ? first : null;
}
