import type { KeyObject } from "node:crypto";
import type { CryptoKey } from "jose";
import { type Clock, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { callable, flag, optional, positiveInteger, resolveOptions, rule, text } from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import type { JWTAlgorithm } from "./jwt-algorithm.ts";
import type { RefreshOwner } from "./refresh-families.ts";
import { hmacKey, secretRing } from "./secret-ring.ts";
import { type KeyPair, keyRing, type SigningKey } from "./signing-key.ts";

/** How tokens are made: access tokens are signed by `secret` or by `signingKey`, never by both. */
export interface TokenOptions {
  /** Signs by HS256: at least 32 bytes; of several the first signs, and refresh tokens of all of them are taken. */
  readonly secret?: Secret | readonly Secret[];
  /** Signs by EdDSA, ES256 or RS256; of several the first signs. Others verify by what `jwksRoutes` publishes of them. */
  readonly signingKey?: SigningKey | readonly SigningKey[];
  /** Makes refresh tokens, as `secret` does otherwise. Needed where `signingKey` and `refreshStore` are given. @default secret */
  readonly refreshSecret?: Secret | readonly Secret[];
  /** `iss` of the access token. */
  readonly issuer?: string;
  /** `aud` of the access token: give it wherever several services share a secret. */
  readonly audience?: string;
  /** `sid` of the access token: the id of the session that it belongs to, as `request.sessions.list()` tells it. */
  readonly sid?: string;
  /** Seconds that an access token lives. @default 600 */
  readonly accessLifetime?: number;
  /** Where families of refresh tokens live; without one there are none. */
  readonly refreshStore?: KeyValueStore;
  /** Seconds after which a refresh token that is not used is over. @default 1_209_600, 14 days */
  readonly refreshIdle?: number;
  /** Seconds after which a family is over, however much it is used. @default 2_592_000, 30 days */
  readonly refreshLifetime?: number;
  /** Whether a refresh token that is used twice ends its family at once, even after a lost response. @default false */
  readonly strictRefresh?: boolean;
  /** Told once of a family that was killed because somebody has a copy of its tokens. What it throws is logged. */
  readonly onReuse?: (owner: RefreshOwner) => MaybePromise<void>;
  /** @default the clock of the system */
  readonly clock?: Clock;
}

const clock = rule<Clock>(
  "a clock with now() and monotonic()",
  (value) => typeof (value as Clock | null)?.now === "function",
);

const rules = {
  // What was meant to be there must not vanish with an empty environment variable.
  issuer: { ...text, strict: true as const },
  audience: { ...text, strict: true as const },
  sid: text,
  accessLifetime: optional(positiveInteger, 600),
  refreshStore: { ...keyValueStore, strict: true as const },
  refreshIdle: optional(positiveInteger, 1_209_600),
  refreshLifetime: optional(positiveInteger, 2_592_000),
  strictRefresh: optional(flag, false),
  onReuse: optional(callable, () => {}),
  clock: optional(clock, systemClock),
};

/** What access tokens are signed with. */
interface TokenSigner {
  readonly alg: JWTAlgorithm;
  readonly kid?: string;
  readonly key: CryptoKey | KeyObject;
}

/** The options, complete. */
export interface ResolvedTokenOptions {
  readonly signer: TokenSigner;
  /** None where there are no refresh tokens. */
  readonly refreshSecret: readonly Uint8Array[];
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly sid: string | undefined;
  readonly accessLifetime: number;
  readonly refreshStore: KeyValueStore | undefined;
  readonly refreshIdle: number;
  readonly refreshLifetime: number;
  readonly strictRefresh: boolean;
  readonly onReuse: (owner: RefreshOwner) => MaybePromise<void>;
  readonly clock: Clock;
}

export function resolveTokenOptions(owner: string, options: TokenOptions): ResolvedTokenOptions {
  const { secret, signingKey, refreshSecret, ...read } = resolveOptions(owner, options, {
    ...rules,
    // Strict, all three: what signs must not change because an environment variable vanished.
    secret: { ...secretRing(`${owner}.secret`), strict: true as const },
    signingKey: { ...keyRing(`${owner}.signingKey`), strict: true as const },
    refreshSecret: { ...secretRing(`${owner}.refreshSecret`), strict: true as const },
  });
  const makesRefresh = refreshSecret ?? secret;
  if (read.refreshStore !== undefined && makesRefresh === undefined && signingKey !== undefined)
    throw new ConfigurationError(`${owner}.refreshSecret`, "is missing: refresh tokens are made with a secret");
  return { ...read, signer: signerOf(owner, secret, signingKey), refreshSecret: makesRefresh ?? [] };
}

function signerOf(
  owner: string,
  secret: readonly Uint8Array[] | undefined,
  signingKey: readonly KeyPair[] | undefined,
): TokenSigner {
  if (secret !== undefined && signingKey !== undefined)
    throw new ConfigurationError(owner, "takes secret or signingKey, never both: one could be taken for the other");
  const [first] = signingKey ?? [];
  if (first !== undefined) {
    if (!first.canSign) throw new ConfigurationError(`${owner}.signingKey`, "is a public key: a private one signs");
    return { alg: first.alg, kid: first.kid, key: first.privateKey };
  }
  if (secret?.[0] === undefined) throw new ConfigurationError(`${owner}.secret`, "is missing, and so is signingKey");
  return { alg: "HS256", key: hmacKey(secret[0]) };
}
