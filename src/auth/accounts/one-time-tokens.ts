import { createHash, randomBytes } from "node:crypto";
import type { KeyValueStore } from "../../stores/key-value-store.ts";

/** What a token was made for. */
export interface TokenGrant {
  readonly user: string;
  /** What it is about, such as the address that it proves. */
  readonly about: string;
}

/** Tokens that are worth something once, for a while: the links in mails. Only their SHA-256 is stored. */
export class OneTimeTokens {
  readonly #store: KeyValueStore;
  readonly #purpose: string;
  readonly #ttlMs: number;

  /** @param purpose tells them apart: a token for one purpose is worth nothing for another */
  constructor(store: KeyValueStore, purpose: string, ttlMs: number) {
    this.#store = store;
    this.#purpose = purpose;
    this.#ttlMs = ttlMs;
  }

  /** A new token. The one before it is worth nothing any more. */
  async issue(grant: TokenGrant): Promise<string> {
    const token = randomBytes(32).toString("base64url");
    const hash = sha256(token);
    await this.#store.set(this.#tokenKey(hash), JSON.stringify(grant), this.#ttlMs);
    await this.#store.set(this.#newestKey(grant.user), hash, this.#ttlMs);
    return token;
  }

  /** What the token was made for, if it is still worth something. */
  async peek(token: string): Promise<TokenGrant | null> {
    const hash = sha256(token);
    const text = await this.#store.get(this.#tokenKey(hash));
    if (text === null) return null;
    const grant = JSON.parse(text) as TokenGrant;
    return (await this.#store.get(this.#newestKey(grant.user))) === hash ? grant : null;
  }

  /** The same, to one caller; `null` to everybody after that. */
  async redeem(token: string): Promise<TokenGrant | null> {
    const grant = await this.peek(token);
    return grant !== null && (await this.#store.delete(this.#tokenKey(sha256(token)))) ? grant : null;
  }

  /** The user's token, if there is one, is worth nothing any more. */
  async revoke(user: string): Promise<void> {
    await this.#store.delete(this.#newestKey(user));
  }

  #tokenKey(hash: string): string {
    return `${this.#purpose}:${hash}`;
  }

  #newestKey(user: string): string {
    return `${this.#purpose}-of:${sha256(user)}`;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
