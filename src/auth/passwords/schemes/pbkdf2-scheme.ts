import { pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import type { PasswordScheme, StoredHash } from "./password-scheme.ts";

interface Pbkdf2Hash {
  readonly digest: string;
  readonly iterations: number;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

/** The limit of a stored hash: a few seconds. */
const MAX_ITERATIONS = 5_000_000;

const DJANGO = /^pbkdf2_(sha256|sha1)\$(\d{1,9})\$([^$]{1,128})\$([A-Za-z0-9+/]{16,171}={0,2})$/;
const WERKZEUG = /^pbkdf2:(sha256|sha512|sha1):(\d{1,9})\$([^$]{1,128})\$((?:[0-9a-f]{2}){16,64})$/;

/** Verifies PBKDF2 in the formats of Django and Werkzeug. */
export function pbkdf2Scheme(dummyCost: number): PasswordScheme {
  return {
    name: "pbkdf2",
    dummy: stored({ digest: "sha256", iterations: dummyCost, salt: randomBytes(16), key: randomBytes(32) }),
    read(text) {
      const [form, encoding] = text.startsWith("pbkdf2_")
        ? ([DJANGO, "base64"] as const)
        : ([WERKZEUG, "hex"] as const);
      const [, digest, count, salt, key] = form.exec(text) ?? [];
      const iterations = Number(count);
      if (digest === undefined || salt === undefined || key === undefined) return null;
      if (iterations < 1 || iterations > MAX_ITERATIONS) return null;
      return stored({ digest, iterations, salt: Buffer.from(salt), key: Buffer.from(key, encoding) });
    },
  };
}

function stored({ digest, iterations, salt, key }: Pbkdf2Hash): StoredHash {
  const verify = (password: Uint8Array): Promise<boolean> =>
    new Promise((resolve, reject) => {
      pbkdf2(password, salt, iterations, key.length, digest, (error, derived) => {
        if (error === null) resolve(timingSafeEqual(derived, key));
        else reject(error);
      });
    });
  return { isCurrent: false, verify };
}
