import { listOf, optional, REFUSED, type Rule, resolveOptions, rule, wholeNumber } from "../../core/resolve-options.ts";
import { currentContext } from "../../http/context/current-context.ts";
import { HashQueue } from "./hash-queue.ts";
import { readAttempt, readNewPassword } from "./password-attempt.ts";
import { LONGEST_HASH, type PasswordScheme, type StoredHash } from "./password-scheme.ts";
import { type Argon2Cost, type Argon2Scheme, argon2Scheme } from "./schemes/argon2-scheme.ts";
import { bcryptScheme } from "./schemes/bcrypt-scheme.ts";
import { pbkdf2Scheme } from "./schemes/pbkdf2-scheme.ts";
import { scryptScheme } from "./schemes/scrypt-scheme.ts";

/** A scheme that is verified and never written: what was stored before, by another system. */
export type LegacyPasswordScheme = "bcrypt" | "scrypt" | "pbkdf2";

/** How passwords are hashed. */
export interface PasswordOptions {
  /** argon2id with 19 MiB and two passes, or `strong`: with 64 MiB and three. @default "standard" */
  readonly preset?: "standard" | "strong";
  /**
   * What is verified beside argon2: hashes of these schemes were stored before. Each makes a failed attempt dearer, for
   * everybody alike. `bcrypt` needs the package `@node-rs/bcrypt`. @default []
   */
  readonly accepts?: readonly LegacyPasswordScheme[];
  /**
   * What the stored hashes of these schemes cost, so that a failed attempt takes as long for those who have none: the cost of
   * bcrypt, N of scrypt (with r = 8, p = 1), the iterations of pbkdf2. @default { bcrypt: 12, scrypt: 32_768, pbkdf2: 600_000 }
   */
  readonly legacyCosts?: { readonly [S in LegacyPasswordScheme]?: number };
  /** Passwords that may wait until others are done; one more is answered 503. @default 64 */
  readonly maxWaiting?: number;
}

/** What became of an attempt. */
export interface PasswordCheck {
  readonly isRight: boolean;
  /** Whether to hash the password anew and store that: what is stored is of an older scheme, or weaker. */
  readonly needsRehash: boolean;
}

const WRONG: PasswordCheck = Object.freeze({ isRight: false, needsRehash: false });

const PRESETS: Readonly<Record<NonNullable<PasswordOptions["preset"]>, Argon2Cost>> = {
  standard: { memoryKiB: 19_456, passes: 2 },
  strong: { memoryKiB: 65_536, passes: 3 },
};

/**
 * Hashes passwords with argon2id and verifies them, those in older schemes too. A password is taken in NFKC and has 8 to 1,024
 * bytes; nothing of it is trimmed or cut.
 *
 * At most half of libuv's threads hash at once, in the whole process; the rest waits, and beyond `maxWaiting` is answered 503.
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
  /** The one of new hashes first. */
  readonly #schemes: readonly PasswordScheme[];
  readonly #queue: HashQueue;

  constructor(options: PasswordOptions = {}) {
    const { preset, accepts, legacyCosts, maxWaiting } = resolveOptions("PasswordHasher", options, hasherRules);
    this.#current = argon2Scheme(PRESETS[preset]);
    this.#schemes = [this.#current, ...[...new Set(accepts)].map((name) => LEGACY[name](legacyCosts[name]))];
    this.#queue = new HashQueue(maxWaiting);
  }

  /** The hash to store. Throws 422 for a password that is too short or too long, 503 when too many wait. */
  async hash(password: string): Promise<string> {
    const bytes = readNewPassword(password);
    return this.#queue.run(() => this.#current.hash(bytes));
  }

  /**
   * Whether the password is the one that was stored. `null` is nobody's: give it for users that are not there, may not sign in
   * or have no password. A wrong password takes the same work for everybody, and so does a stored hash that cannot be read.
   *
   * Throws 422 for a password that is too long, 503 when too many wait.
   */
  async verify(password: string, stored: string | null): Promise<PasswordCheck> {
    const { normal, raw, isLongEnough } = readAttempt(password);
    const texts = raw === null ? [normal] : [normal, raw];
    const { scheme, hash } = this.#find(stored);
    return this.#queue.run(async () => {
      // The same work for everybody, in the same order, so that time does not tell who has an account, or an old one: what runs
      // first leaves the caches as the next one finds them.
      for (const each of this.#schemes) {
        for (const text of texts) {
          const isRight = await this.#try(each, each === scheme ? hash : null, text);
          if (isRight) return { isRight, needsRehash: isLongEnough && (text === raw || hash?.isCurrent === false) };
        }
      }
      return WRONG;
    });
  }

  #find(stored: string | null): { readonly scheme: PasswordScheme; readonly hash: StoredHash | null } {
    if (typeof stored === "string" && stored.length <= LONGEST_HASH) {
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

/** Says that there is one, and nothing of it. */
function reportUnreadable(): void {
  currentContext()?.log.error(
    {},
    "a stored password hash is malformed, too costly, or of a scheme that PasswordHasher.accepts does not list",
  );
}

const LEGACY: Readonly<Record<LegacyPasswordScheme, (dummyCost: number) => PasswordScheme>> = {
  bcrypt: bcryptScheme,
  scrypt: scryptScheme,
  pbkdf2: pbkdf2Scheme,
};

type LegacyCosts = Readonly<Record<LegacyPasswordScheme, number>>;
const USUAL_COSTS: LegacyCosts = { bcrypt: 12, scrypt: 32_768, pbkdf2: 600_000 };

const within = (expected: string, least: number, most: number): Rule<number> =>
  rule(expected, (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most);

const costRules = {
  bcrypt: optional(within("a whole number from 4 to 15", 4, 15), USUAL_COSTS.bcrypt),
  scrypt: optional(
    rule<number>(
      "a power of two from 2 to 262,144",
      (value) => typeof value === "number" && value >= 2 && value <= 262_144 && Number.isInteger(Math.log2(value)),
    ),
    USUAL_COSTS.scrypt,
  ),
  pbkdf2: optional(within("a whole number from 1 to 5,000,000", 1, 5_000_000), USUAL_COSTS.pbkdf2),
};

const legacyCosts: Rule<LegacyCosts> = {
  expected: "an object with bcrypt, scrypt and pbkdf2",
  read: (value) =>
    typeof value === "object" ? resolveOptions("PasswordHasher.legacyCosts", value, costRules) : REFUSED,
};

const hasherRules = {
  preset: optional(
    rule<keyof typeof PRESETS>('"standard" or "strong"', (value) => value === "standard" || value === "strong"),
    "standard",
  ),
  accepts: optional(
    listOf<LegacyPasswordScheme>(
      'a list of "bcrypt", "scrypt" and "pbkdf2"',
      (entry) => typeof entry === "string" && Object.hasOwn(LEGACY, entry),
    ),
    [],
  ),
  legacyCosts: optional(legacyCosts, USUAL_COSTS),
  maxWaiting: optional(wholeNumber, 64),
};
