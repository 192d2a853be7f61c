import { compactVerify } from "jose";
import { type Clock, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { Secret } from "../../core/key-ring.ts";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import {
  callable,
  listOf,
  optional,
  positiveInteger,
  REFUSED,
  type Rule,
  resolveOptions,
  rule,
  seconds,
  text,
  wholeNumber,
} from "../../core/options.ts";
import { currentContext } from "../../http/current-context.ts";
import type { PorticoRequest } from "../../http/request.ts";
import { secretRing } from "../tokens/secret-ring.ts";
import { AuthResult } from "./auth-result.ts";
import { AuthenticationBackend } from "./authentication-backend.ts";
import { bearerToken } from "./jwt-bearer.ts";
import { TokenCache } from "./jwt-cache.ts";
import { type ClaimRules, isOver, judgeClaims, type TokenClaims, type VerifiedToken } from "./jwt-claims.ts";
import { HeaderReader, own, parseObject } from "./jwt-format.ts";
import {
  type JSONWebKeySet,
  type JWTAlgorithm,
  keySet,
  remoteKeySet,
  secretKeys,
  type VerifyingKey,
  type VerifyingKeys,
} from "./jwt-keys.ts";

/** How bearer tokens are verified: by `secretKey` or by `jwks`, never by both. */
export interface JWTAuthOptions {
  /** The secret of HS256, at least 32 bytes; of several each may have signed, so that a new one can be put first. */
  readonly secretKey?: Secret | readonly Secret[];
  /** Public keys for EdDSA, ES256 and RS256, or the address where another server publishes them. */
  readonly jwks?: URL | JSONWebKeySet;
  /** The ways of signing that count. @default HS256 with a secret; EdDSA, ES256 and RS256 with a key set */
  readonly algorithms?: readonly JWTAlgorithm[];
  /** The claim that names the user. Tokens of `TokenForUser` name it in `sub`. @default "id" */
  readonly identifier?: string;
  /** What `iss` must be. @default not looked at */
  readonly issuer?: string;
  /** What `aud` must be or hold, one of these: give it wherever several services share a key. @default not looked at */
  readonly audience?: string | readonly string[];
  /** What `typ` of the header must be; else it may also be `JWT` or missing, as other issuers have it. */
  readonly typ?: "at+jwt";
  /** Seconds by which clocks may differ. @default 5 */
  readonly clockTolerance?: number;
  /** Seconds that a token may still have to live: one that lives longer is refused. @default 2_592_000, 30 days */
  readonly maxLifetime?: number;
  /** The longest token. @default 4096 */
  readonly maxTokenBytes?: number;
  /** Asked about each token that is right otherwise, also a remembered one. What it throws makes the caller unknown. */
  readonly isRevoked?: (claims: TokenClaims) => MaybePromise<boolean>;
  /** How many verified tokens are remembered, by their hash; 0 remembers none. Their expiry is still looked at. @default 0 */
  readonly cache?: number;
  /** @default the clock of the system */
  readonly clock?: Clock;
}

/**
 * Signs in by a JSON Web Token in `Authorization: Bearer`. The identity is the claim that `identifier` names.
 *
 * A token that is expired, wrongly signed, for another audience or malformed is declined. Wrong options throw
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
  readonly scope = "jwt" as const;
  readonly #keys: VerifyingKeys;
  readonly #algorithms: string[];
  readonly #rules: ClaimRules;
  readonly #headers: HeaderReader;
  readonly #maxTokenBytes: number;
  readonly #isRevoked: ((claims: TokenClaims) => MaybePromise<boolean>) | undefined;
  readonly #cache: TokenCache;
  readonly #clock: Clock;
  #hasWarned = false;

  constructor(options: JWTAuthOptions) {
    super();
    const resolved = resolveOptions("JWTAuthBackend", options, rules);
    const { keys, algorithms } = keysOf(resolved);
    this.#keys = keys;
    this.#algorithms = [...algorithms];
    this.#rules = resolved;
    this.#headers = new HeaderReader(resolved.typ !== undefined);
    this.#maxTokenBytes = resolved.maxTokenBytes;
    this.#isRevoked = resolved.isRevoked;
    this.#cache = new TokenCache(resolved.cache);
    this.#clock = resolved.clock;
  }

  override carries(request: PorticoRequest): boolean {
    return bearerToken(request) !== null;
  }

  override challenge(): string {
    return "Bearer";
  }

  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const text = bearerToken(request);
    if (text === null) return AuthResult.decline("there is no bearer token");
    if (text.length > this.#maxTokenBytes) return AuthResult.decline("the token is too long");
    const token = this.#recall(text) ?? (await this.#verify(text));
    if (token === null) return AuthResult.decline("the token is not valid");
    if (token.identity === null) {
      this.#warnOfIdentifier(token.claims);
      return AuthResult.decline(`the token has no claim ${this.#rules.identifier}`);
    }
    if (this.#isRevoked !== undefined && ((await this.#isRevoked(token.claims)) as unknown) !== false)
      return AuthResult.decline("the token is revoked");
    return AuthResult.accept(token.identity, this.scope);
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
    const found = this.#keys.find(header);
    for (const key of isPromise(found) ? await found : found) {
      const payload = await signedPayload(text, key, this.#algorithms);
      if (payload === null) continue;
      const claims = parseObject(payload);
      const token = claims === null ? null : judgeClaims(Object.freeze(claims), this.#rules, this.#now);
      if (token !== null) this.#cache.set(text, token, this.#keys.version);
      return token;
    }
    return null;
  }

  get #now(): number {
    return this.#clock.now() / 1000;
  }

  #warnOfIdentifier(claims: TokenClaims): void {
    if (this.#hasWarned || own(claims, "sub") === undefined || isProduction()) return;
    this.#hasWarned = true;
    const { identifier } = this.#rules;
    currentContext()?.log.warn(
      { identifier },
      `a valid token has no claim "${identifier}" and names its user in "sub": give JWTAuthBackend identifier: "sub"`,
    );
  }
}

/** The payload, byte by byte as it was signed; `null` when the key did not sign it, or cannot have. */
async function signedPayload(token: string, key: VerifyingKey, algorithms: string[]): Promise<Uint8Array | null> {
  try {
    return (await compactVerify(token, key, { algorithms })).payload;
  } catch {
    return null;
  }
}

const ASYMMETRIC: readonly JWTAlgorithm[] = ["EdDSA", "ES256", "RS256"];

/** What `__proto__` and `constructor` name in an object is not what a token said. */
const identifierRule = rule<string>(
  "the name of a claim",
  (value) => typeof value === "string" && value !== "" && !(value in Object.prototype),
);

const audienceRule: Rule<readonly string[]> = {
  expected: "a string that is not empty, or a list of them",
  read(value) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isRight = list.length > 0 && list.every((entry) => typeof entry === "string" && entry !== "");
    return isRight ? (list as string[]) : REFUSED;
  },
};

const rules = {
  secretKey: secretRing("JWTAuthBackend.secretKey"),
  jwks: { expected: "a URL or a key set", read: (value) => value } as Rule<unknown>,
  algorithms: listOf<JWTAlgorithm>(
    'a list of "HS256", or of "EdDSA", "ES256" and "RS256"',
    (entry) => entry === "HS256" || ASYMMETRIC.includes(entry as JWTAlgorithm),
  ),
  identifier: optional(identifierRule, "id"),
  // A check that was meant to be there must not vanish with an empty environment variable.
  issuer: { ...text, strict: true as const },
  audience: { ...audienceRule, strict: true as const },
  typ: rule<"at+jwt">('"at+jwt"', (value) => value === "at+jwt"),
  clockTolerance: optional(seconds, 5),
  maxLifetime: optional(positiveInteger, 2_592_000),
  maxTokenBytes: optional(positiveInteger, 4096),
  isRevoked: callable,
  cache: optional(wholeNumber, 0),
  clock: optional(
    rule<Clock>("a clock with now() and monotonic()", (value) => typeof (value as Clock | null)?.now === "function"),
    systemClock,
  ),
};

function keysOf(options: {
  readonly secretKey: readonly Uint8Array[] | undefined;
  readonly jwks: unknown;
  readonly algorithms: readonly JWTAlgorithm[] | undefined;
  readonly clock: Clock;
}): { readonly keys: VerifyingKeys; readonly algorithms: readonly JWTAlgorithm[] } {
  const { secretKey, jwks, algorithms, clock } = options;
  if (secretKey !== undefined && jwks !== undefined)
    throw new ConfigurationError(
      "JWTAuthBackend",
      "takes secretKey or jwks, never both: one could be taken for the other",
    );
  if (algorithms?.length === 0) throw new ConfigurationError("JWTAuthBackend.algorithms", "is empty");
  if (secretKey !== undefined) {
    if (algorithms?.some((name) => name !== "HS256"))
      throw new ConfigurationError("JWTAuthBackend.algorithms", "must be HS256 alone where secretKey is given");
    return { keys: secretKeys(secretKey), algorithms: ["HS256"] };
  }
  if (jwks === undefined) throw new ConfigurationError("JWTAuthBackend.secretKey", "is missing, and so is jwks");
  if (algorithms?.includes("HS256"))
    throw new ConfigurationError("JWTAuthBackend.algorithms", "must not hold HS256 where jwks is given");
  const keys =
    jwks instanceof URL ? remoteKeySet("JWTAuthBackend.jwks", jwks, clock) : keySet("JWTAuthBackend.jwks", jwks);
  return { keys, algorithms: algorithms ?? ASYMMETRIC };
}
