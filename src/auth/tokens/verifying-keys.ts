import { createPublicKey, type KeyObject } from "node:crypto";
import { type CryptoKey, createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWK } from "jose";
import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { algorithmOf, type JWTAlgorithm, MIN_RSA_BITS } from "./jwt-algorithm.ts";
import { hmacKey } from "./secret-ring.ts";
import type { TokenHeader } from "./token-header.ts";

/** A set of public keys in the format of RFC 7517. */
export interface JSONWebKeySet {
  readonly keys: readonly object[];
}

export type VerifyingKey = CryptoKey | KeyObject;

/** The keys that tokens are verified with. */
export interface VerifyingKeys {
  /**
   * Changes with the keys, and is `null` while they must be fetched. Cached tokens of another version are not valid.
   */
  readonly version: number | null;
  /** Returns the keys that may have signed a token with this header. Throws if the keys cannot be fetched. */
  find(header: TokenHeader): readonly VerifyingKey[] | Promise<readonly VerifyingKey[]>;
}

/** A list of secrets. A token does not name its secret, so each one is tried. */
export function secretKeys(secrets: readonly Uint8Array[]): VerifyingKeys {
  const keys = secrets.map(hmacKey);
  return { version: 0, find: () => keys };
}

/** A local key set. Keys are selected by `kid`, or without one if only a single key matches. */
export function keySet(option: string, given: unknown): VerifyingKeys {
  const list = (given as Partial<JSONWebKeySet> | null)?.keys;
  if (!Array.isArray(list)) throw new ConfigurationError(option, "must be a URL, or a key set: an object with keys");
  const keys = list.flatMap((jwk: unknown, index) => publicKey(`${option}.keys[${index}]`, jwk));
  if (keys.length === 0) throw new ConfigurationError(option, "contains no key that can verify signatures");
  return {
    version: 0,
    find({ alg, kid }) {
      const fitting = keys.filter((entry) => entry.alg === alg && (kid === undefined || entry.kid === kid));
      return fitting.length === 1 ? fitting.map(({ key }) => key) : [];
    },
  };
}

interface PublicKey {
  readonly kid: unknown;
  readonly alg: JWTAlgorithm;
  readonly key: KeyObject;
}

/** Skips keys for encryption and of other types, which sets may contain. Throws for private keys and secrets. */
function publicKey(option: string, given: unknown): readonly PublicKey[] {
  const jwk = given as JWK | null;
  if (typeof jwk !== "object" || jwk === null) throw new ConfigurationError(option, "must be a JSON Web Key");
  if (jwk.kty === "oct") throw new ConfigurationError(option, "is a symmetric secret: pass it as secretKey instead");
  if (jwk.d !== undefined) throw new ConfigurationError(option, "is a private key: pass only the public key");
  const alg = algorithmOf(jwk);
  if (alg === null || (jwk["alg"] !== undefined && jwk["alg"] !== alg)) return [];
  if (jwk["use"] !== undefined && jwk["use"] !== "sig") return [];
  const key = importKey(option, jwk);
  if (alg === "RS256" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new ConfigurationError(option, `must have at least ${MIN_RSA_BITS} bits`);
  return [{ kid: jwk["kid"], alg, key }];
}

function importKey(option: string, jwk: JWK): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new ConfigurationError(option, "is not a readable key");
  }
}

const COOLDOWN_MS = 30_000;
const FETCH_TIMEOUT_MS = 5_000;

/**
 * A key set published by another server. It is fetched on first use, and at most once per cooldown for unknown keys.
 */
export function remoteKeySet(option: string, url: URL, clock: Clock): VerifyingKeys {
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    throw new ConfigurationError(
      option,
      "must be an https URL: an attacker who can change the response could sign in as any user",
    );
  let version = 0;
  let failure: { readonly error: unknown; readonly at: number } | undefined;

  /** Adds a cooldown after a failure, because the library waits only after a success. */
  const fetchKeys: FetchImplementation = async (address, init) => {
    if (failure !== undefined && clock.monotonic() - failure.at < COOLDOWN_MS / 6) throw failure.error;
    try {
      const response = await fetch(address, init);
      if (response.status !== 200) throw new Error(`fetching the key set failed with status ${response.status}`);
      failure = undefined;
      version++;
      return response;
    } catch (error) {
      failure = { error, at: clock.monotonic() };
      throw error;
    }
  };

  const remote = createRemoteJWKSet(url, {
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: FETCH_TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });
  return {
    get version() {
      // While a set is being fetched, the previous one is used, and its keys may have been withdrawn.
      return remote.fresh && !remote.reloading ? version : null;
    },
    async find(header) {
      try {
        const { alg, kid } = header;
        return [await remote(kid === undefined ? { alg } : { alg, kid })];
      } catch (error) {
        if (NO_SUCH_KEY.some((kind) => isInstance(error, kind))) return [];
        throw error;
      }
    },
  };
}

const NO_SUCH_KEY = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
