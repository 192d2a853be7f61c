import { hash } from "node:crypto";
import type { VerifiedToken } from "./token-claims.ts";

interface Entry {
  readonly token: VerifiedToken;
  readonly version: number;
}

/** Caches verified tokens by their hash. When the cache is full, the oldest entry is removed. */
export class TokenCache {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(token: string, version: number | null): VerifiedToken | undefined {
    if (this.#maxEntries === 0) return undefined;
    const entry = this.#entries.get(digest(token));
    return entry?.version === version ? entry.token : undefined;
  }

  set(text: string, token: VerifiedToken, version: number | null): void {
    if (this.#maxEntries === 0 || version === null) return;
    const key = digest(text);
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(key, { token, version });
  }

  forget(token: string): void {
    this.#entries.delete(digest(token));
  }
}

function digest(token: string): string {
  return hash("sha256", token, "base64");
}
