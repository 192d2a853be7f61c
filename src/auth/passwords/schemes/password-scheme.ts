/** A scheme in which passwords are stored. */
export interface PasswordScheme {
  readonly name: "argon2" | "bcrypt" | "scrypt" | "pbkdf2";
  /**
   * Parses a stored hash. Returns `null` if it belongs to another scheme, is malformed, or is too expensive to verify.
   */
  readonly read: (stored: string) => StoredHash | null;
  /** A hash that costs as much as a real one and matches no password. */
  readonly dummy: StoredHash;
}

/** One stored hash. */
export interface StoredHash {
  /** Whether it is at least as strong as a new hash. */
  readonly isCurrent: boolean;
  /** May reject if the library of the scheme does not accept the hash. */
  readonly verify: (password: Uint8Array) => Promise<boolean>;
}

/** A longer text is not parsed. All known hashes are far shorter. */
export const MAX_HASH_LENGTH = 512;
