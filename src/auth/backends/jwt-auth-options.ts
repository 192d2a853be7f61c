import { type Clock, clockRule, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  anything,
  type Complete,
  callable,
  flag,
  listOf,
  type OptionRule,
  oneOf,
  optional,
  optionRule,
  positiveInteger,
  REFUSED,
  type Resolved,
  resolveOptions,
  seconds,
  strict,
  text,
  textLike,
  wholeNumber,
} from "../../core/resolve-options.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { SessionStore } from "../sessions/session-store.ts";
import type { JWTAlgorithm } from "../tokens/jwt-algorithm.ts";
import { secretRing } from "../tokens/secret-ring.ts";
import { type JSONWebKeySet, keySet, remoteKeySet, secretKeys, type VerifyingKeys } from "../tokens/verifying-keys.ts";
import type { ClaimRules, TokenClaims } from "./token-claims.ts";

/** The options of `JWTAuthBackend`. Pass either `secretKey` or `jwks`. */
export interface JWTAuthOptions {
  /** The secret for HS256: at least 32 bytes. In a list, all secrets verify, so that you can rotate them. */
  readonly secretKey?: Secret | readonly Secret[];
  /** Public keys for EdDSA, ES256 and RS256, or the URL where another server publishes them. */
  readonly jwks?: URL | JSONWebKeySet;
  /** The accepted signature algorithms. @default HS256 with a secret; EdDSA, ES256 and RS256 with a key set */
  readonly algorithms?: readonly JWTAlgorithm[];
  /** The claim that contains the identity. Tokens of `TokenForUser` use `sub`. @default "id" */
  readonly identifier?: string;
  /**
   * The scope of callers with such a token, for `useAuth({ scopes })` and `request.scope.auth`. Give each issuer its own, and
   * declare it in `Scopes`. Account routes accept only `"jwt"` and `"session"`. @default "jwt"
   */
  readonly scope?: AuthScope;
  /**
   * Limits the permissions of the user to those of the token: the name of a claim with a list or with text separated by spaces,
   * such as `scope`, or a function of the claims. A token without the claim has no permissions. A function may return
   * `undefined` for no limit. @default no limit
   */
  readonly permissions?: string | ((claims: TokenClaims) => readonly string[] | undefined);
  /** The required `iss` claim. @default not checked */
  readonly issuer?: string;
  /** The accepted `aud` values. Set it if several services share a key. @default none: a token with an `aud` is declined */
  readonly audience?: string | readonly string[];
  /** The required `typ` header. Without this option, `JWT` or no `typ` is accepted too, as other issuers send it. */
  readonly typ?: "at+jwt";
  /** The allowed clock difference in seconds. @default 5 */
  readonly clockToleranceSeconds?: number;
  /** The maximum remaining lifetime of a token in seconds. A longer one is rejected. @default 2_592_000, 30 days */
  readonly maxLifetimeSeconds?: number;
  /** The maximum length of a token. @default 4096 */
  readonly maxTokenBytes?: number;
  /** The store of the sessions. A token with a `sid` is then valid only while that session is. @default not checked */
  readonly sessionStore?: KeyValueStore;
  /** Whether the session of a token is looked up for each request. @default true if sessionStore is set */
  readonly checkRevocation?: boolean;
  /** Called for each otherwise valid token, even a cached one. If it throws, the caller is unknown (503). */
  readonly isRevoked?: (claims: TokenClaims) => MaybePromise<boolean>;
  /**
   * The number of verified tokens to cache, by their hash. Their expiry is still checked. 0 disables the cache.
   * @default 0
   */
  readonly cache?: number;
  /** The realm in `WWW-Authenticate`. */
  readonly realm?: string;
  /** The clock that expiry is checked with. @default the clock of the application */
  readonly clock?: Clock;
}

export interface ResolvedJWTAuthOptions
  extends ClaimRules,
    Complete<
      Pick<
        JWTAuthOptions,
        "scope" | "algorithms" | "typ" | "maxTokenBytes" | "isRevoked" | "cache" | "realm" | "clock"
      >,
      "typ" | "isRevoked" | "realm" | "clock"
    > {
  readonly keys: VerifyingKeys;
  /** The sessions to look tokens up in, or `undefined` if that is disabled. */
  readonly sessions: SessionStore | undefined;
}

export function resolveJWTAuthOptions(options: JWTAuthOptions): ResolvedJWTAuthOptions {
  const resolved = resolveOptions("JWTAuthBackend", options, rules);
  return { ...resolved, ...keysOf(resolved), sessions: sessionsOf(resolved) };
}

/** No extra limits: each session record has its own lifetimes. */
const UNLIMITED = { idleMs: Number.POSITIVE_INFINITY, absoluteMs: Number.POSITIVE_INFINITY };

function sessionsOf(options: Resolved<typeof rules>): SessionStore | undefined {
  const { sessionStore, checkRevocation, clock = systemClock } = options;
  if (sessionStore === undefined && checkRevocation === true)
    throw new ConfigurationError("JWTAuthBackend.sessionStore", "is required when checkRevocation is true");
  if (sessionStore === undefined || checkRevocation === false) return undefined;
  return new SessionStore(sessionStore, clock, { plain: UNLIMITED, remembered: UNLIMITED, maxPerUser: 1 });
}

const ASYMMETRIC: readonly JWTAlgorithm[] = ["EdDSA", "ES256", "RS256"];

/** Rejects names such as `__proto__` and `constructor`, which every object inherits. */
const identifierRule = optionRule<string>(
  "the name of a claim",
  (value) => typeof value === "string" && value !== "" && !(value in Object.prototype),
);

const audienceRule: OptionRule<readonly string[]> = {
  expected: "a non-empty string, or a list of them",
  read(value) {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isRight = list.length > 0 && list.every((entry) => typeof entry === "string" && entry !== "");
    return isRight ? (list as string[]) : REFUSED;
  },
};

const rules = {
  secretKey: secretRing("JWTAuthBackend.secretKey"),
  jwks: anything,
  // The strict options must not be `undefined`, so that an unset variable cannot remove a check.
  algorithms: strict(
    listOf<JWTAlgorithm>(
      'a list of "HS256", or of "EdDSA", "ES256" and "RS256"',
      (entry) => entry === "HS256" || ASYMMETRIC.includes(entry as JWTAlgorithm),
    ),
  ),
  identifier: optional(identifierRule, "id"),
  scope: optional(strict(text as OptionRule<AuthScope>), "jwt"),
  permissions: strict(
    optionRule<NonNullable<JWTAuthOptions["permissions"]>>(
      "the name of a claim, or a function of the claims",
      (value) => typeof value === "function" || identifierRule.read(value) !== REFUSED,
    ),
  ),
  issuer: strict(text),
  audience: strict(audienceRule),
  typ: strict(oneOf("at+jwt")),
  clockToleranceSeconds: optional(seconds, 5),
  maxLifetimeSeconds: optional(positiveInteger, 2_592_000),
  maxTokenBytes: optional(positiveInteger, 4096),
  sessionStore: strict(keyValueStore),
  checkRevocation: flag,
  isRevoked: strict(callable),
  cache: optional(wholeNumber, 0),
  // The realm is quoted in a header, so it must not contain quotes or line breaks.
  realm: textLike("printable ASCII without quotes and backslashes", /^[ !#-[\]-~]+$/),
  clock: clockRule,
};

function keysOf(options: Resolved<typeof rules>): Pick<ResolvedJWTAuthOptions, "keys" | "algorithms"> {
  const { secretKey, jwks, algorithms, clock = systemClock } = options;
  if (secretKey !== undefined && jwks !== undefined)
    throw new ConfigurationError("JWTAuthBackend", "takes either secretKey or jwks, not both");
  if (algorithms?.length === 0) throw new ConfigurationError("JWTAuthBackend.algorithms", "must not be empty");
  if (secretKey !== undefined) {
    if (algorithms?.some((name) => name !== "HS256"))
      throw new ConfigurationError("JWTAuthBackend.algorithms", "must be HS256 only when secretKey is set");
    return { keys: secretKeys(secretKey), algorithms: ["HS256"] };
  }
  if (jwks === undefined)
    throw new ConfigurationError("JWTAuthBackend.secretKey", "is missing: pass secretKey or jwks");
  if (algorithms?.includes("HS256"))
    throw new ConfigurationError("JWTAuthBackend.algorithms", "must not include HS256 when jwks is set");
  const keys =
    jwks instanceof URL ? remoteKeySet("JWTAuthBackend.jwks", jwks, clock) : keySet("JWTAuthBackend.jwks", jwks);
  return { keys, algorithms: algorithms ?? ASYMMETRIC };
}
