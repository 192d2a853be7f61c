import { abortable } from "./abortable.ts";
import { PorticoClientError } from "./portico-client-error.ts";
import type { Request } from "./request.ts";
import type { TokenStore, Tokens } from "./token-store.ts";

/** The settings of a `TokenKeeper`. */
export interface TokenKeeperSettings {
  readonly store: TokenStore;
  readonly request: Request;
  /** The path of the account routes. */
  readonly accounts: string;
  /** The name of the lock that the tabs of a browser share. */
  readonly lock: string;
  readonly onSignOut: (reason: PorticoClientError | null) => void;
}

/** An access token is refreshed this long before it expires, so that it is still valid when it arrives. */
const EARLY_MS = 10_000;
const REFRESH_TIMEOUT_MS = 30_000;

/** Reads the tokens from their store and refreshes them, with one request at a time. */
export class TokenKeeper {
  readonly #settings: TokenKeeperSettings;
  #refreshing: Promise<Tokens | null> | undefined;

  constructor(settings: TokenKeeperSettings) {
    this.#settings = settings;
  }

  /**
   * Calls `work` with the access token. If the server rejects the token, calls `work` again with a fresh one.
   *
   * @param isRejected whether an error of `work` means that the token is no longer valid and that the work may be repeated
   */
  async run<T>(
    work: (token: string | null) => Promise<T>,
    signal: AbortSignal | undefined,
    isRejected: (error: unknown) => boolean = isUnauthenticated,
  ): Promise<T> {
    const token = await this.token(signal);
    try {
      return await work(token);
    } catch (error) {
      if (token === null || !isRejected(error)) throw error;
      const fresh = await this.renew(token, signal);
      if (fresh === null) throw error;
      return work(fresh);
    }
  }

  /** Returns an access token that has not expired, or `null` if the user is not signed in. */
  async token(signal?: AbortSignal): Promise<string | null> {
    const tokens = await this.#settings.store.get();
    if (tokens === null) return null;
    if (Date.now() < tokens.expiresAt - EARLY_MS) return tokens.accessToken;
    return this.renew(tokens.accessToken, signal);
  }

  /** Returns a newer access token than the one that was used, or `null` if the user had to be signed out. */
  async renew(used: string, signal?: AbortSignal): Promise<string | null> {
    // A refresh that began before this token was issued does not replace it.
    const running = this.#refreshing && (await abortable(this.#refreshing, signal));
    if (running !== undefined && running?.accessToken !== used) return running?.accessToken ?? null;
    this.#refreshing ??= this.#locked(used).finally(() => {
      this.#refreshing = undefined;
    });
    return (await abortable(this.#refreshing, signal))?.accessToken ?? null;
  }

  /** Tabs that share a store also share a lock, so only one of them refreshes. */
  #locked(used: string): Promise<Tokens | null> {
    const refresh = (): Promise<Tokens | null> => this.#refresh(used);
    const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks };
    return locks === undefined ? refresh() : locks.request(this.#settings.lock, refresh);
  }

  async #refresh(used: string): Promise<Tokens | null> {
    const { store, request, accounts } = this.#settings;
    const old = await store.get();
    if (old === null || old.accessToken !== used) return old;
    const signal = AbortSignal.timeout(REFRESH_TIMEOUT_MS);
    const body = { refresh_token: old.refreshToken };
    const result = await request({ method: "POST", path: `${accounts}/refresh`, body, signal }, readTokens).catch(
      (error: unknown) => ({ error }),
    );
    const current = await store.get();
    // The user signed out, or signed in again, while the request was running.
    if (current?.refreshToken !== old.refreshToken) return current;
    if (!("error" in result)) {
      await store.set(result);
      return result;
    }
    const { error } = result;
    if (!(error instanceof PorticoClientError) || !isRefusal(error)) throw error;
    await this.forget(error);
    return null;
  }

  /** Removes the tokens. */
  async forget(reason: PorticoClientError | null): Promise<void> {
    await this.#settings.store.set(null);
    this.#settings.onSignOut(reason);
  }
}

/** Reads a response of `/token` or `/refresh`. */
export async function readTokens(response: Response): Promise<Tokens> {
  const { access_token, refresh_token, expires_in } = (await response.json()) as TokenBody;
  return { accessToken: access_token, refreshToken: refresh_token, expiresAt: Date.now() + expires_in * 1000 };
}

interface TokenBody {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

/** The part of the Web Locks API that is used. Older browsers and versions of Node do not have it. */
interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Whether the refresh token is invalid. After an outage or a rate limit it still works. */
function isRefusal({ status }: PorticoClientError): boolean {
  return status === 400 || status === 401 || status === 403;
}

/** Whether the server did not accept the credential of a request. A wrong password has another code. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof PorticoClientError && error.status === 401 && error.code !== "INVALID_CREDENTIALS";
}
