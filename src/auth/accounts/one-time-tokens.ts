import { randomBytes } from "node:crypto";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard, revoke } from "../../stores/revoke.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import { sha256 } from "../records/sha256.ts";

/** The user and subject that a token was issued for. */
export interface TokenGrant {
  readonly user: string;
  /** The subject, such as the email address to verify. */
  readonly about: string;
}

/** Single-use tokens that expire, for the links in emails. Only their SHA-256 hash is stored. */
export class OneTimeTokens {
  readonly #store: KeyValueStore;
  readonly #purpose: string;
  readonly #ttlMs: number;

  /** @param purpose a token for one purpose is not valid for another */
  constructor(store: KeyValueStore, purpose: string, ttlMs: number) {
    this.#store = store;
    this.#purpose = purpose;
    this.#ttlMs = ttlMs;
  }

  /** Issues a token and invalidates the user's previous one. */
  async issue(grant: TokenGrant): Promise<string> {
    const token = randomBytes(32).toString("base64url");
    const hash = sha256(token);
    await this.#store.set(this.#tokenKey(hash), JSON.stringify(grant), this.#ttlMs);
    await this.#store.set(this.#newestKey(grant.user), hash, this.#ttlMs);
    return token;
  }

  /** Returns the grant of a valid token without redeeming it. */
  async peek(attempt: SecretAttempt, token: string): Promise<TokenGrant | null> {
    const hash = sha256(token);
    const text = await this.#store.get(this.#tokenKey(hash));
    attempt.compares();
    if (text === null) return null;
    const grant = JSON.parse(text) as TokenGrant;
    return (await this.#store.get(this.#newestKey(grant.user))) === hash ? grant : null;
  }

  /** Returns the grant of a valid token to the first caller, and `null` after that. */
  async redeem(attempt: SecretAttempt, token: string): Promise<TokenGrant | null> {
    const grant = await this.peek(attempt, token);
    return grant !== null && (await discard(this.#store, this.#tokenKey(sha256(token)))) ? grant : null;
  }

  /** Invalidates the user's token, if there is one. */
  async revoke(user: string): Promise<void> {
    const key = this.#newestKey(user);
    await revoke(this.#store, key, () => this.#store.delete(key));
  }

  #tokenKey(hash: string): string {
    return `${this.#purpose}:${hash}`;
  }

  #newestKey(user: string): string {
    return `${this.#purpose}-of:${sha256(user)}`;
  }
}

/** The tokens of links that reset a password. */
export function resetTokens(store: KeyValueStore): OneTimeTokens {
  return new OneTimeTokens(store, "password-reset", LINK_MS);
}

/** The tokens of links that verify an email address. */
export function verifyTokens(store: KeyValueStore): OneTimeTokens {
  return new OneTimeTokens(store, "email-verification", LINK_MS);
}

/** The tokens of links that change an email address. */
export function emailTokens(store: KeyValueStore): OneTimeTokens {
  return new OneTimeTokens(store, "email-change", LINK_MS);
}

/** How long the link in an email is valid. */
export const LINK_MS: number = 30 * 60_000;
