import type { KeyObject } from "node:crypto";
import type { CryptoKey } from "jose";
import { type Clock, clockRule, systemClock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import {
  type Complete,
  callable,
  flag,
  optional,
  positiveInteger,
  resolveOptions,
  strict,
  text,
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import type { JWTAlgorithm } from "./jwt-algorithm.ts";
import type { RefreshOwner } from "./refresh-families.ts";
import { hmacKey, secretRing } from "./secret-ring.ts";
import { type KeyPair, keyRing, type SigningKey } from "./signing-key.ts";

/** The options for issuing tokens. Pass either `secret` or `signingKey` to sign access tokens. */
export interface TokenOptions {
  /**
   * The secret for HS256: at least 32 bytes. In a list, the first signs, and refresh tokens of all of them are
   * accepted.
   */
  readonly secret?: Secret | readonly Secret[];
  /**
   * The key for EdDSA, ES256 or RS256. In a list, the first signs. `jwksRoutes` publishes the public halves for
   * verifiers.
   */
  readonly signingKey?: SigningKey | readonly SigningKey[];
  /** The secret for refresh tokens. Required with `signingKey` and `refreshStore`. @default secret */
  readonly refreshSecret?: Secret | readonly Secret[];
  /** The `iss` claim of the access token. */
  readonly issuer?: string;
  /** The `aud` claim of the access token. Set it if several services share a secret. */
  readonly audience?: string;
  /** The `sid` claim of the access token: the id of its session, as returned by `request.sessions.list()`. */
  readonly sid?: string;
  /** The lifetime of an access token in seconds. @default 600 */
  readonly accessSeconds?: number;
  /** The store for refresh token families. Without it, no refresh tokens are issued. */
  readonly refreshStore?: KeyValueStore;
  /** Seconds after which an unused refresh token expires. @default 1_209_600, 14 days */
  readonly refreshIdleSeconds?: number;
  /** Seconds after which a family expires even if it is used. @default 2_592_000, 30 days */
  readonly refreshAbsoluteSeconds?: number;
  /** Whether using a refresh token twice revokes its family immediately, even after a lost response. @default false */
  readonly strictRefresh?: boolean;
  /** Called once when a family is revoked because a token was copied. An error it throws is logged. */
  readonly onReuse?: (owner: RefreshOwner) => MaybePromise<void>;
  /** @default the clock of the system */
  readonly clock?: Clock;
}

const rules = {
  // Strict: an unset environment variable must not remove a claim or the store.
  issuer: strict(text),
  audience: strict(text),
  sid: text,
  accessSeconds: optional(positiveInteger, 600),
  refreshStore: strict(keyValueStore),
  refreshIdleSeconds: optional(positiveInteger, 1_209_600),
  refreshAbsoluteSeconds: optional(positiveInteger, 2_592_000),
  strictRefresh: optional(flag, false),
  onReuse: optional(callable, () => {}),
  clock: optional(clockRule, systemClock),
};

/** The key that signs access tokens. */
interface TokenSigner {
  readonly alg: JWTAlgorithm;
  readonly kid?: string;
  readonly key: CryptoKey | KeyObject;
}

export interface ResolvedTokenOptions
  extends Complete<
    Omit<TokenOptions, "secret" | "signingKey" | "refreshSecret">,
    "issuer" | "audience" | "sid" | "refreshStore"
  > {
  readonly signer: TokenSigner;
  /** Empty if no refresh tokens are issued. */
  readonly refreshSecret: readonly Uint8Array[];
}

export function resolveTokenOptions(owner: string, options: TokenOptions): ResolvedTokenOptions {
  const { secret, signingKey, refreshSecret, ...read } = resolveOptions(owner, options, {
    ...rules,
    // Strict: an unset environment variable must not change which key signs.
    secret: strict(secretRing(`${owner}.secret`)),
    signingKey: strict(keyRing(`${owner}.signingKey`)),
    refreshSecret: strict(secretRing(`${owner}.refreshSecret`)),
  });
  const makesRefresh = refreshSecret ?? secret;
  if (read.refreshStore !== undefined && makesRefresh === undefined && signingKey !== undefined)
    throw new ConfigurationError(
      `${owner}.refreshSecret`,
      "is required with signingKey and refreshStore: refresh tokens need a secret",
    );
  return { ...read, signer: signerOf(owner, secret, signingKey), refreshSecret: makesRefresh ?? [] };
}

function signerOf(
  owner: string,
  secret: readonly Uint8Array[] | undefined,
  signingKey: readonly KeyPair[] | undefined,
): TokenSigner {
  if (secret !== undefined && signingKey !== undefined)
    throw new ConfigurationError(owner, "takes either secret or signingKey, not both");
  const [first] = signingKey ?? [];
  if (first !== undefined) {
    if (!first.canSign)
      throw new ConfigurationError(`${owner}.signingKey`, "is a public key: signing requires a private key");
    return { alg: first.alg, kid: first.kid, key: first.privateKey };
  }
  if (secret?.[0] === undefined)
    throw new ConfigurationError(`${owner}.secret`, "is missing: pass secret or signingKey");
  return { alg: "HS256", key: hmacKey(secret[0]) };
}
