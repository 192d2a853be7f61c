import { createPrivateKey, createPublicKey, KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { OptionRule } from "../../core/resolve-options.ts";
import { sha256 } from "../records/sha256.ts";
import { algorithmOf, type JWTAlgorithm, MIN_RSA_BITS } from "./jwt-algorithm.ts";

/**
 * A key for EdDSA (Ed25519), ES256 (P-256) or RS256 (2048 bits or more): a JSON Web Key, or a `KeyObject` with or
 * without a `kid`. Without one, the `kid` is the thumbprint of the key (RFC 7638).
 */
export type SigningKey = JWK | KeyObject | { readonly key: KeyObject; readonly kid: string };

/** A parsed key. Its private half cannot end up in logs or `JSON.stringify`. */
export class KeyPair {
  readonly alg: JWTAlgorithm;
  readonly kid: string;
  /** The public half in its published form. */
  readonly publicJwk: Readonly<Record<string, string>>;
  readonly #privateKey: KeyObject | null;

  constructor(option: string, given: unknown) {
    const { key, kid, ...declared } = readKey(option, given);
    const jwk = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
    const alg = algorithmOf(jwk);
    if (alg === null || (declared.alg !== undefined && declared.alg !== alg))
      throw new ConfigurationError(option, "must be a key for EdDSA (Ed25519), ES256 (P-256) or RS256");
    if (declared.use !== undefined && declared.use !== "sig")
      throw new ConfigurationError(option, 'must be a signing key, but its "use" is not "sig"');
    if ((key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) < MIN_RSA_BITS)
      throw new ConfigurationError(option, `must have at least ${MIN_RSA_BITS} bits`);
    const members = publicMembers(jwk);
    this.alg = alg;
    this.kid = readKid(option, kid) ?? thumbprint(members);
    this.publicJwk = Object.freeze({ ...members, kid: this.kid, alg, use: "sig" });
    this.#privateKey = key.type === "private" ? key : null;
  }

  get canSign(): boolean {
    return this.#privateKey !== null;
  }

  /** Throws for a public key. */
  get privateKey(): KeyObject {
    if (this.#privateKey === null) throw new TypeError("this key has no private half, so it cannot sign");
    return this.#privateKey;
  }
}

/** Reads one key or a list, with the signing key first. No error message shows a key. */
export function keyRing(option: string): OptionRule<readonly KeyPair[]> {
  return {
    expected: "a key, or a list of keys",
    read(value) {
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (list.length === 0) throw new ConfigurationError(option, "must not be empty");
      const pairs = list.map((entry, index) => pairOf(list.length === 1 ? option : `${option}[${index}]`, entry));
      const twice = pairs.find(({ kid }, index) => pairs.findIndex((pair) => pair.kid === kid) !== index);
      if (twice !== undefined) throw new ConfigurationError(option, `has two keys with the kid ${twice.kid}`);
      return pairs;
    },
  };
}

/** Caches parsed keys, because parsing a key costs more than signing, and every token uses the same objects. */
const READ = new WeakMap<object, KeyPair>();

function pairOf(option: string, given: unknown): KeyPair {
  const known = READ.get(given as object);
  if (known !== undefined) return known;
  const pair = new KeyPair(option, given);
  READ.set(given as object, pair);
  return pair;
}

interface GivenKey {
  readonly key: KeyObject;
  readonly kid: unknown;
  readonly alg?: unknown;
  readonly use?: unknown;
}

function readKey(option: string, given: unknown): GivenKey {
  if (given instanceof KeyObject) return { key: asymmetric(option, given), kid: undefined };
  if (typeof given !== "object" || given === null)
    throw new ConfigurationError(option, "must be a JSON Web Key, a KeyObject, or an object with key and kid");
  const { key, kid } = given as { readonly key?: unknown; readonly kid?: unknown };
  if (key instanceof KeyObject) return { key: asymmetric(option, key), kid };
  const jwk = given as JWK;
  return { key: importJwk(option, jwk), kid, alg: jwk.alg, use: jwk.use };
}

function asymmetric(option: string, key: KeyObject): KeyObject {
  if (key.type === "secret") throw new ConfigurationError(option, "is a symmetric secret: pass it as secret instead");
  return key;
}

function importJwk(option: string, jwk: JWK): KeyObject {
  if (jwk.kty === "oct") throw new ConfigurationError(option, "is a symmetric secret: pass it as secret instead");
  try {
    return jwk.d === undefined
      ? createPublicKey({ key: jwk, format: "jwk" })
      : createPrivateKey({ key: jwk, format: "jwk" });
  } catch {
    // The error is not passed on as a cause, because it may quote the key.
    throw new ConfigurationError(option, "is not a readable key");
  }
}

const MAX_KID_LENGTH = 256;

function readKid(option: string, kid: unknown): string | undefined {
  if (kid === undefined) return undefined;
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KID_LENGTH)
    throw new ConfigurationError(`${option}.kid`, `must be a string of 1 to ${MAX_KID_LENGTH} characters`);
  return kid;
}

/**
 * Copies an allowlist of members, in the order of RFC 7638, so that an unexpected private member is never published.
 */
function publicMembers(jwk: JWK): Readonly<Record<string, string>> {
  const names = ["crv", "e", "kty", "n", "x", "y"] as const;
  return Object.fromEntries(
    names.flatMap((name) => (typeof jwk[name] === "string" ? [[name, jwk[name]] as const] : [])),
  );
}

function thumbprint(members: Readonly<Record<string, string>>): string {
  return sha256(JSON.stringify(members));
}
