import { createPublicKey, type KeyObject } from "node:crypto";
import { type CryptoKey, createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWK } from "jose";
import type { Clock } from "../../core/clock.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { algorithmOf, type JWTAlgorithm, LEAST_RSA_BITS } from "../tokens/jwt-algorithm.ts";
import { hmacKey } from "../tokens/secret-ring.ts";
import type { TokenHeader } from "./token-header.ts";

/** Public keys as RFC 7517 writes them. */
export interface JSONWebKeySet {
  readonly keys: readonly object[];
}

export type VerifyingKey = CryptoKey | KeyObject;

/** The keys that tokens are verified with. */
export interface VerifyingKeys {
  /** Changes whenever the keys do; `null` while they have to be asked for: what was verified before then counts no more. */
  readonly version: number | null;
  /** The keys that may have signed a token with this header, none if it is not one of ours. Throws when it cannot be known. */
  find(header: TokenHeader): readonly VerifyingKey[] | Promise<readonly VerifyingKey[]>;
}

/** A ring of secrets: a token does not say which one signed it, so each is tried. */
export function secretKeys(secrets: readonly Uint8Array[]): VerifyingKeys {
  const keys = secrets.map(hmacKey);
  return { version: 0, find: () => keys };
}

/** A set that is known: by `kid`, or the only key that fits. */
export function keySet(option: string, given: unknown): VerifyingKeys {
  const list = (given as Partial<JSONWebKeySet> | null)?.keys;
  if (!Array.isArray(list)) throw new ConfigurationError(option, "must be a URL, or a key set: an object with keys");
  const keys = list.flatMap((jwk: unknown, index) => publicKey(`${option}.keys[${index}]`, jwk));
  if (keys.length === 0) throw new ConfigurationError(option, "holds no key that a signature can be verified with");
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

/** Keys for encryption and of other kinds are passed over, as sets hold them; what must never be in a set is refused. */
function publicKey(option: string, given: unknown): readonly PublicKey[] {
  const jwk = given as JWK | null;
  if (typeof jwk !== "object" || jwk === null) throw new ConfigurationError(option, "must be a JSON Web Key");
  if (jwk.kty === "oct") throw new ConfigurationError(option, "is a secret: a secret goes into secretKey, alone");
  if (jwk.d !== undefined)
    throw new ConfigurationError(option, "is a private key: whoever verifies needs the public one");
  const alg = algorithmOf(jwk);
  if (alg === null || (jwk["alg"] !== undefined && jwk["alg"] !== alg)) return [];
  if (jwk["use"] !== undefined && jwk["use"] !== "sig") return [];
  const key = importKey(option, jwk);
  if (alg === "RS256" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_RSA_BITS)
    throw new ConfigurationError(option, `must have at least ${LEAST_RSA_BITS} bits`);
  return [{ kid: jwk["kid"], alg, key }];
}

function importKey(option: string, jwk: JWK): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new ConfigurationError(option, "is no key that can be read");
  }
}

const COOLDOWN_MS = 30_000;
const FETCH_TIMEOUT_MS = 5_000;

/** A set that another server publishes: fetched when it is first needed, at most once per cooldown for unknown keys. */
export function remoteKeySet(option: string, url: URL, clock: Clock): VerifyingKeys {
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    throw new ConfigurationError(
      option,
      "must be an https address: whoever can change the answer can sign in as anybody",
    );
  let version = 0;
  let failure: { readonly error: unknown; readonly at: number } | undefined;

  /** The library waits for its cooldown after a success alone. */
  const fetchKeys: FetchImplementation = async (address, init) => {
    if (failure !== undefined && clock.monotonic() - failure.at < COOLDOWN_MS / 6) throw failure.error;
    try {
      const answer = await fetch(address, init);
      if (answer.status !== 200) throw new Error(`the key set answered ${answer.status}`);
      failure = undefined;
      version++;
      return answer;
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
      // While a set is being fetched, the former one is in use, and its keys may be withdrawn.
      return remote.fresh && !remote.reloading ? version : null;
    },
    async find(header) {
      try {
        const { alg, kid } = header;
        return [await remote(kid === undefined ? { alg } : { alg, kid })];
      } catch (error) {
        if (NO_SUCH_KEY.some((kind) => error instanceof kind)) return [];
        throw error;
      }
    },
  };
}

const NO_SUCH_KEY = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];
