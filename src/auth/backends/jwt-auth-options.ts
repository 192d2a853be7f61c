import { type Clock, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  callable,
  flag,
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
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { SessionStore } from "../sessions/session-store.ts";
import type { JWTAlgorithm } from "../tokens/jwt-algorithm.ts";
import { secretRing } from "../tokens/secret-ring.ts";
import type { ClaimRules, TokenClaims } from "./token-claims.ts";
import { type JSONWebKeySet, keySet, remoteKeySet, secretKeys, type VerifyingKeys } from "./verifying-keys.ts";

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
  /** Where sessions are kept: a token with a `sid` then counts as long as that session lives. @default not looked at */
  readonly sessionStore?: KeyValueStore;
  /** Whether the session that a token names is looked up, for each request. @default true where sessionStore is given */
  readonly checkRevocation?: boolean;
  /** Asked about each token that is right otherwise, also a remembered one. What it throws makes the caller unknown. */
  readonly isRevoked?: (claims: TokenClaims) => MaybePromise<boolean>;
  /** How many verified tokens are remembered, by their hash; 0 remembers none. Their expiry is still looked at. @default 0 */
  readonly cache?: number;
  /** What `WWW-Authenticate` calls the place that the token is for. */
  readonly realm?: string;
  /** @default the clock of the application */
  readonly clock?: Clock;
}

/** The options, complete. */
export interface ResolvedJWTAuthOptions extends ClaimRules {
  readonly keys: VerifyingKeys;
  readonly algorithms: readonly JWTAlgorithm[];
  readonly typ: "at+jwt" | undefined;
  readonly maxTokenBytes: number;
  /** Where the session of a token is looked up; `undefined` where it is not. */
  readonly sessions: SessionStore | undefined;
  readonly isRevoked: ((claims: TokenClaims) => MaybePromise<boolean>) | undefined;
  readonly cache: number;
  readonly realm: string | undefined;
  readonly clock: Clock | undefined;
}

export function resolveJWTAuthOptions(options: JWTAuthOptions): ResolvedJWTAuthOptions {
  const resolved = resolveOptions("JWTAuthBackend", options, rules);
  return { ...resolved, ...keysOf(resolved), sessions: sessionsOf(resolved) };
}

/** Of lifetimes those count that are written in the session itself. */
const UNLIMITED = { idleMs: Number.POSITIVE_INFINITY, absoluteMs: Number.POSITIVE_INFINITY };

function sessionsOf(options: {
  readonly sessionStore: KeyValueStore | undefined;
  readonly checkRevocation: boolean | undefined;
  readonly clock: Clock | undefined;
}): SessionStore | undefined {
  const { sessionStore, checkRevocation, clock = systemClock } = options;
  if (sessionStore === undefined && checkRevocation === true)
    throw new ConfigurationError("JWTAuthBackend.sessionStore", "is missing: checkRevocation looks there");
  if (sessionStore === undefined || checkRevocation === false) return undefined;
  return new SessionStore(sessionStore, clock, { plain: UNLIMITED, remembered: UNLIMITED, maxPerUser: 1 });
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
  // A check that was meant to be there must not vanish with a variable that is not set: these, and those below.
  algorithms: {
    ...listOf<JWTAlgorithm>(
      'a list of "HS256", or of "EdDSA", "ES256" and "RS256"',
      (entry) => entry === "HS256" || ASYMMETRIC.includes(entry as JWTAlgorithm),
    ),
    strict: true as const,
  },
  identifier: optional(identifierRule, "id"),
  issuer: { ...text, strict: true as const },
  audience: { ...audienceRule, strict: true as const },
  typ: { ...rule<"at+jwt">('"at+jwt"', (value) => value === "at+jwt"), strict: true as const },
  clockTolerance: optional(seconds, 5),
  maxLifetime: optional(positiveInteger, 2_592_000),
  maxTokenBytes: optional(positiveInteger, 4096),
  sessionStore: { ...keyValueStore, strict: true as const },
  checkRevocation: flag,
  isRevoked: { ...callable, strict: true as const },
  cache: optional(wholeNumber, 0),
  // It stands between quotes in a header: nothing in it may end them, or the header.
  realm: rule<string>(
    "printable ASCII without quotes and backslashes",
    (value) => typeof value === "string" && /^[ !#-[\]-~]+$/.test(value),
  ),
  clock: rule<Clock>(
    "a clock with now() and monotonic()",
    (value) => typeof (value as Clock | null)?.now === "function",
  ),
};

function keysOf(options: {
  readonly secretKey: readonly Uint8Array[] | undefined;
  readonly jwks: unknown;
  readonly algorithms: readonly JWTAlgorithm[] | undefined;
  readonly clock: Clock | undefined;
}): { readonly keys: VerifyingKeys; readonly algorithms: readonly JWTAlgorithm[] } {
  const { secretKey, jwks, algorithms, clock = systemClock } = options;
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
