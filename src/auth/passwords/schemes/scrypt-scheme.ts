import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { PasswordScheme, StoredHash } from "./password-scheme.ts";

interface ScryptHash {
  /** The cost, a power of two; memory is 128 bytes times `n` times `r`. */
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

/** The limits of a stored hash: 256 MiB and a few seconds. */
const MAX_MEMORY = 268_435_456;
const MAX_WORK = 2 ** 22;

/** The supported formats with their parsers. */
const FORMS: readonly (readonly [RegExp, (parts: readonly string[]) => ScryptHash])[] = [
  // The PHC format of passlib. AdonisJS writes the cost itself instead of its logarithm.
  [
    /^\$scrypt\$(ln|n)=(\d{1,8}),r=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]{8,171})\$([A-Za-z0-9+/]{16,171})$/,
    ([, unit, n, r, p, salt = "", key = ""]) => ({
      n: unit === "ln" ? 2 ** Math.min(Number(n), 64) : Number(n),
      r: Number(r),
      p: Number(p),
      salt: Buffer.from(salt, "base64"),
      key: Buffer.from(key, "base64"),
    }),
  ],
  // Django.
  [
    /^scrypt\$(\d{1,8})\$([^$]{1,128})\$(\d{1,4})\$(\d{1,4})\$([A-Za-z0-9+/]{16,171}={0,2})$/,
    ([, n, salt = "", r, p, key = ""]) => ({
      n: Number(n),
      r: Number(r),
      p: Number(p),
      salt: Buffer.from(salt),
      key: Buffer.from(key, "base64"),
    }),
  ],
  // Werkzeug.
  [
    /^scrypt:(\d{1,8}):(\d{1,4}):(\d{1,4})\$([^$]{1,128})\$((?:[0-9a-f]{2}){16,128})$/,
    ([, n, r, p, salt = "", key = ""]) => ({
      n: Number(n),
      r: Number(r),
      p: Number(p),
      salt: Buffer.from(salt),
      key: Buffer.from(key, "hex"),
    }),
  ],
  // better-auth uses the hexadecimal text as the salt, not the bytes that it encodes.
  [
    /^([0-9a-f]{32}):([0-9a-f]{128})$/,
    ([, salt = "", key = ""]) => ({ n: 16_384, r: 16, p: 1, salt: Buffer.from(salt), key: Buffer.from(key, "hex") }),
  ],
];

/** Verifies scrypt in the formats of several frameworks. */
export function scryptScheme(dummyCost: number): PasswordScheme {
  return {
    name: "scrypt",
    dummy: stored({ n: dummyCost, r: 8, p: 1, salt: randomBytes(16), key: randomBytes(64) }),
    read(text) {
      for (const [form, parse] of FORMS) {
        const parts = form.exec(text);
        if (parts === null) continue;
        const hash = parse(parts);
        return isWithinReason(hash) ? stored(hash) : null;
      }
      return null;
    },
  };
}

function isWithinReason({ n, r, p }: ScryptHash): boolean {
  return (
    n >= 2 &&
    Number.isInteger(Math.log2(n)) &&
    r >= 1 &&
    p >= 1 &&
    memoryOf(n, r) <= MAX_MEMORY &&
    n * r * p <= MAX_WORK
  );
}

function memoryOf(n: number, r: number): number {
  return 128 * n * r;
}

function stored(hash: ScryptHash): StoredHash {
  return { isCurrent: false, verify: (password) => verifyScrypt(hash, password) };
}

function verifyScrypt({ n, r, p, salt, key }: ScryptHash, password: Uint8Array): Promise<boolean> {
  // Node rejects more than 32 MiB by default, and needs somewhat more than the memory of the algorithm.
  const options = { N: n, r, p, maxmem: 2 * memoryOf(n, r) + 128 * r * p + 1_048_576 };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, key.length, options, (error, derived) => {
      if (error === null) resolve(timingSafeEqual(derived, key));
      else reject(error);
    });
  });
}
