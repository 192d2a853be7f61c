/** The tokens of a signed-in user. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A place for tokens. `set(null)` removes them. */
export interface TokenStore {
  get(): Tokens | null | Promise<Tokens | null>;
  set(tokens: Tokens | null): void | Promise<void>;
}

/** Keeps tokens in memory, so a reload of the page signs the user out. */
export function memoryTokens(): TokenStore {
  let kept: Tokens | null = null;
  return {
    get: () => kept,
    set(tokens) {
      kept = tokens;
    },
  };
}

/**
 * Keeps tokens in `localStorage` or `sessionStorage`. All tabs of an origin share `localStorage`. Scripts can read both, so
 * prefer a session cookie where the page and the server have the same site.
 *
 * @param key the name of the entry
 *
 * @example
 * ```ts
 * import { createClient, storedTokens } from "portico-client";
 *
 * declare const localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void; removeItem(key: string): void };
 *
 * const client = createClient({ url: "https://api.shop.example", tokens: storedTokens(localStorage) });
 * ```
 */
export function storedTokens(storage: TextStorage, key = "portico-tokens"): TokenStore {
  return {
    get() {
      try {
        return JSON.parse(storage.getItem(key) ?? "null") as Tokens | null;
      } catch {
        return null;
      }
    },
    set: (tokens) => (tokens === null ? storage.removeItem(key) : storage.setItem(key, JSON.stringify(tokens))),
  };
}

/** The part of the Web Storage API that `storedTokens` uses. */
export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}
