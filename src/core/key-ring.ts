import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";
import { ConfigurationError } from "./configuration-error.ts";
import { type OptionRule, refused } from "./resolve-options.ts";
import { reportSecret, secretReports } from "./secret-report.ts";

/** A secret of at least 32 bytes that only the server knows. A string is measured in bytes of UTF-8. */
export type Secret = string | Uint8Array;

const MIN_BYTES = 32;
const SECRETS = {
  expected: `a secret of at least ${MIN_BYTES} bytes, or a list of them, the newest first`,
  isSecret: true,
  wrongEntry: (list: readonly unknown[]): number => list.findIndex((entry) => !isSecret(entry)),
} as const;
/** A secret with fewer different bytes is a placeholder, such as `xxxxxxxx`. */
const MIN_VARIETY = 8;
/** Secrets from documentation: long enough, but publicly known. */
const KNOWN: ReadonlySet<string> = new Set([
  "a-string-secret-at-least-256-bits-long",
  "a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long",
  "your-256-bit-secret-your-256-bit-secret",
  "your-secret-key-at-least-32-characters-long",
  "change-me-change-me-change-me-change-me",
]);

/**
 * Keys for HMAC-SHA-256 signatures, derived from secrets: the first signs, all of them verify. A ring with another purpose
 * derives different keys from the same secrets.
 */
export class KeyRing {
  readonly #keys: readonly [KeyObject, ...KeyObject[]];

  /** @param option where the secrets were given, for the error; the error never shows them */
  constructor(option: string, purpose: string, secrets: unknown) {
    const [first, ...older] = secretsOf(option, secrets);
    this.#keys = [derive(first, purpose), ...older.map((secret) => derive(secret, purpose))];
  }

  /** The signature by the newest key, 32 bytes. */
  sign(text: string): Buffer {
    return mac(this.#keys[0], text);
  }

  /** Which key made the signature; `null` if none did. Every key is tried, in constant time. */
  verify(text: string, signature: Uint8Array): "newest" | "older" | null {
    const matches = this.#keys.map((key) => {
      const expected = mac(key, text);
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    });
    const index = matches.indexOf(true);
    if (index === -1) return null;
    return index === 0 ? "newest" : "older";
  }
}

/** Reads an option that holds secrets. */
export function secretsRule(option: string): OptionRule<readonly Secret[]> {
  return { ...SECRETS, read: (value) => Object.freeze([...secretsOf(option, value)]) };
}

/** One secret or a list of them, the newest first. Throws a `ConfigurationError` that never contains the value. */
export function secretsOf(option: string, given: unknown): readonly [Secret, ...Secret[]] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || !list.every(isSecret)) throw refused(option, SECRETS, given);
  const secrets = list as readonly Secret[] as readonly [Secret, ...Secret[]];
  // This comes before anything is derived, because a derived secret always looks random.
  if (secrets.some(isGuessable)) throw new ConfigurationError(option, "is too easy to guess: use 32 random bytes");
  if (secretReports.hasSubscribers) for (const secret of secrets) secretReports.publish(reportSecret(option, secret));
  return secrets;
}

function isGuessable(secret: Secret): boolean {
  const bytes = Buffer.from(secret);
  return new Set(bytes).size < MIN_VARIETY || KNOWN.has(bytes.toString().trim().toLowerCase());
}

function isSecret(value: unknown): boolean {
  return (typeof value === "string" || value instanceof Uint8Array) && Buffer.byteLength(value) >= MIN_BYTES;
}

/** Derives a separate secret for each purpose, so that a key that signs tokens cannot sign anything else. */
export function deriveSecret(secret: Secret, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", `portico ${purpose}`, MIN_BYTES));
}

/** Created once, because a key object signs seven times faster than a bare secret. */
function derive(secret: Secret, purpose: string): KeyObject {
  return createSecretKey(deriveSecret(secret, purpose));
}

function mac(key: KeyObject, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
