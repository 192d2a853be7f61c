import {
  integerFrom,
  type OptionRule,
  oneOf,
  optional,
  optionRule,
  REFUSED,
  resolveOptions,
  someOf,
  wholeNumber,
} from "../../core/resolve-options.ts";
import { currentContext } from "../../kernel/context/current-context.ts";
import { HashQueue } from "./hash-queue.ts";
import { readAttempt, readNewPassword } from "./password-attempt.ts";
import { type Argon2Cost, type Argon2Scheme, argon2Scheme } from "./schemes/argon2-scheme.ts";
import { bcryptScheme } from "./schemes/bcrypt-scheme.ts";
import { MAX_HASH_LENGTH, type PasswordScheme, type StoredHash } from "./schemes/password-scheme.ts";
import { pbkdf2Scheme } from "./schemes/pbkdf2-scheme.ts";
import { scryptScheme } from "./schemes/scrypt-scheme.ts";

/** A scheme of existing hashes. It is verified but never used for new hashes. */
export type LegacyPasswordScheme = "bcrypt" | "scrypt" | "pbkdf2";

/** The options of `PasswordHasher`. */
export interface PasswordOptions {
  /** argon2id with 19 MiB and two passes, or with 64 MiB and three for `"strong"`. @default "standard" */
  readonly preset?: "standard" | "strong";
  /**
   * The schemes to verify in addition to argon2, because hashes of them are already stored. Each makes every failed
   * attempt more expensive. `bcrypt` needs the package `@node-rs/bcrypt`. @default []
   */
  readonly accepts?: readonly LegacyPasswordScheme[];
  /**
   * The cost of the stored hashes of these schemes, so that a failed attempt takes as long for users without one: the
   * cost of bcrypt, N of scrypt (with r = 8, p = 1), the iterations of pbkdf2. @default { bcrypt: 12, scrypt: 32_768,
   * pbkdf2: 600_000 }
   */
  readonly legacyCosts?: { readonly [S in LegacyPasswordScheme]?: number };
  /** The maximum number of passwords that wait to be hashed. More are rejected with 503. @default 64 */
  readonly maxWaiting?: number;
}

/** The result of a verification. */
export interface PasswordCheck {
  readonly isRight: boolean;
  /** Whether to hash the password again and store the result, because the stored hash is older or weaker. */
  readonly needsRehash: boolean;
}

const WRONG: PasswordCheck = Object.freeze({ isRight: false, needsRehash: false });

const PRESETS: Readonly<Record<NonNullable<PasswordOptions["preset"]>, Argon2Cost>> = {
  standard: { memoryKiB: 19_456, passes: 2 },
  strong: { memoryKiB: 65_536, passes: 3 },
};

/**
 * Hashes passwords with argon2id, and verifies hashes of argon2 and older schemes. A password is normalised to NFKC and
 * must be 8 to 1,024 bytes long. It is neither trimmed nor truncated.
 *
 * At most half of libuv's threads hash at the same time in a process. Other passwords wait, and beyond `maxWaiting` are
 * rejected with 503.
 *
 * @example
 * ```ts
 * import { PasswordHasher } from "portico/auth";
 *
 * declare const users: Map<string, { passwordHash: string }>;
 * const passwords = new PasswordHasher();
 *
 * export async function isRight(name: string, password: string): Promise<boolean> {
 *   const user = users.get(name);
 *   const { isRight, needsRehash } = await passwords.verify(password, user?.passwordHash ?? null);
 *   if (user !== undefined && needsRehash) user.passwordHash = await passwords.hash(password);
 *   return isRight;
 * }
 * ```
 */
export class PasswordHasher {
  readonly #current: Argon2Scheme;
  /** The scheme of new hashes comes first. */
  readonly #schemes: readonly PasswordScheme[];
  readonly #queue: HashQueue;

  constructor(options: PasswordOptions = {}) {
    const { preset, accepts, legacyCosts, maxWaiting } = resolveOptions("PasswordHasher", options, hasherRules);
    this.#current = argon2Scheme(PRESETS[preset]);
    this.#schemes = [this.#current, ...[...new Set(accepts)].map((name) => LEGACY[name](legacyCosts[name]))];
    this.#queue = new HashQueue(maxWaiting);
  }

  /** Returns the hash to store. Throws 422 for a password that is too short or too long, and 503 if too many wait. */
  async hash(password: string): Promise<string> {
    const bytes = readNewPassword(password);
    return this.#queue.run(() => this.#current.hash(bytes));
  }

  /**
   * Verifies a password against a stored hash. Pass `null` for a user who does not exist, may not sign in or has no
   * password: the result is then always negative. A failed attempt does the same work for every user, even if the
   * stored hash cannot be read.
   *
   * Throws 422 for a password that is too long, and 503 if too many wait or if the client of the current request
   * disconnected in the meantime.
   */
  async verify(password: string, stored: string | null): Promise<PasswordCheck> {
    const { normal, raw, isLongEnough } = readAttempt(password);
    const texts = raw === null ? [normal] : [normal, raw];
    const { scheme, hash } = this.#find(stored);
    return this.#queue.run(async () => {
      // Every attempt runs all schemes in the same order, so that the timing does not reveal whether the user exists or
      // has an old hash. The order matters too, because each scheme affects the caches of the next one.
      for (const each of this.#schemes) {
        for (const text of texts) {
          const isRight = await this.#try(each, each === scheme ? hash : null, text);
          if (isRight) return { isRight, needsRehash: isLongEnough && (text === raw || hash?.isCurrent === false) };
        }
      }
      return WRONG;
    }, currentContext()?.signal);
  }

  #find(stored: string | null): { readonly scheme: PasswordScheme; readonly hash: StoredHash | null } {
    if (typeof stored === "string" && stored.length <= MAX_HASH_LENGTH) {
      for (const scheme of this.#schemes) {
        const hash = scheme.read(stored);
        if (hash !== null) return { scheme, hash };
      }
    }
    if (stored !== null && stored !== undefined) reportUnreadable();
    return { scheme: this.#current, hash: null };
  }

  async #try(scheme: PasswordScheme, hash: StoredHash | null, text: Uint8Array): Promise<boolean> {
    if (hash !== null) {
      try {
        return await hash.verify(text);
      } catch {
        reportUnreadable();
      }
    }
    await scheme.dummy.verify(text);
    return false;
  }
}

/** Logs the problem without showing the hash. */
function reportUnreadable(): void {
  currentContext()?.log.error(
    {},
    "a stored password hash is malformed, too expensive, or uses a scheme that PasswordHasher.accepts does not list",
  );
}

const LEGACY: Readonly<Record<LegacyPasswordScheme, (dummyCost: number) => PasswordScheme>> = {
  bcrypt: bcryptScheme,
  scrypt: scryptScheme,
  pbkdf2: pbkdf2Scheme,
};

type LegacyCosts = Readonly<Record<LegacyPasswordScheme, number>>;
const USUAL_COSTS: LegacyCosts = { bcrypt: 12, scrypt: 32_768, pbkdf2: 600_000 };

const costRules = {
  bcrypt: optional(integerFrom(4, 15), USUAL_COSTS.bcrypt),
  scrypt: optional(
    optionRule<number>(
      "a power of two from 2 to 262,144",
      (value) => typeof value === "number" && value >= 2 && value <= 262_144 && Number.isInteger(Math.log2(value)),
    ),
    USUAL_COSTS.scrypt,
  ),
  pbkdf2: optional(integerFrom(1, 5_000_000), USUAL_COSTS.pbkdf2),
};

const legacyCosts: OptionRule<LegacyCosts> = {
  expected: "an object with bcrypt, scrypt and pbkdf2",
  read: (value) =>
    typeof value === "object" ? resolveOptions("PasswordHasher.legacyCosts", value, costRules) : REFUSED,
};

const hasherRules = {
  preset: optional(oneOf("standard", "strong"), "standard"),
  accepts: optional(someOf("bcrypt", "scrypt", "pbkdf2"), []),
  legacyCosts: optional(legacyCosts, USUAL_COSTS),
  maxWaiting: optional(wholeNumber, 64),
};
