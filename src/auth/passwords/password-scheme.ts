/** A way in which passwords are stored. */
export interface PasswordScheme {
  readonly name: "argon2" | "bcrypt" | "scrypt" | "pbkdf2";
  /**
   * What was stored, ready to be verified; `null` for anything that is not of this scheme, is malformed, or asks for more
   * work than any login is worth.
   */
  readonly read: (stored: string) => StoredHash | null;
  /** A hash that costs as much as any other and that no password fits. */
  readonly dummy: StoredHash;
}

/** One stored hash. */
export interface StoredHash {
  /** Whether it is what a new one would be, or stronger. */
  readonly isCurrent: boolean;
  /** May reject on a hash that the scheme's library finds a fault with. */
  readonly verify: (password: Uint8Array) => Promise<boolean>;
}

/** The longest text that is looked at: every hash that is known is far below it. */
export const LONGEST_HASH = 512;
