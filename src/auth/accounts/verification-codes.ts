import { timingSafeEqual } from "node:crypto";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { revoke } from "../../stores/revoke.ts";
import { readCode } from "../factors/read-code.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import { sha256 } from "../records/sha256.ts";
import type { AccountUser } from "../users/account-model.ts";
import { CODE_DIGITS, newMailedCode } from "./new-mailed-code.ts";
import { LINK_MS } from "./one-time-tokens.ts";

interface StoredCode {
  readonly hash: string;
  readonly email: string;
}

type Addressee = Pick<AccountUser, "identity" | "email">;

/** The codes that prove an email address to a signed-in user, each in the email of a verification link. */
export class VerificationCodes {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Issues a code for the user's address and invalidates the previous one. */
  async issue({ identity, email }: Addressee): Promise<string> {
    const code = newMailedCode();
    const stored: StoredCode = { hash: hashOf(identity, code), email };
    await this.#store.set(keyOf(identity), JSON.stringify(stored), LINK_MS);
    return code;
  }

  /** Returns whether this is the newest code for the user's address, without redeeming it. */
  async isRight(attempt: SecretAttempt, { identity, email }: Addressee, code: string): Promise<boolean> {
    attempt.compares();
    const text = await this.#store.get(keyOf(identity));
    if (text === null) return false;
    const stored = JSON.parse(text) as StoredCode;
    const typed = readCode(code, CODE_DIGITS);
    if (typed === null || stored.email !== email) return false;
    return timingSafeEqual(Buffer.from(stored.hash), Buffer.from(hashOf(identity, typed)));
  }

  /** Invalidates the user's code. Returns whether there was one. */
  revoke(user: string): Promise<boolean> {
    return revoke(this.#store, keyOf(user), () => this.#store.delete(keyOf(user)));
  }
}

function keyOf(user: string): string {
  return `verify-code:${sha256(user)}`;
}

function hashOf(user: string, code: string): string {
  return sha256(JSON.stringify([user, code]));
}
