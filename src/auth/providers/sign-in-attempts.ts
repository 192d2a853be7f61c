import { randomBytes } from "node:crypto";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { BadRequest } from "../../kernel/exceptions/http-exception.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import { sha256 } from "../records/sha256.ts";
import { BrowserCookie } from "../sessions/browser-cookie.ts";
import type { SignInSecrets } from "./identity-provider.ts";

/** How long a person may take to sign in at the provider. */
const ATTEMPT_SECONDS = 600;
const cookie = new BrowserCookie("__Host-portico_provider", ATTEMPT_SECONDS);

/** A sign-in that has begun and continues with the callback of the provider. */
export interface SignInAttempt {
  readonly provider: string;
  /** The local path to continue at. */
  readonly returnTo: string;
  readonly remember: boolean;
  /** The user to link the account to, or `null` to sign in. */
  readonly linkTo: string | null;
}

type StoredAttempt = SignInAttempt & { readonly browser: string; readonly secrets: SignInSecrets };

/** The sign-ins that have begun, under the hash of their state. Each can be continued once, by the same browser. */
export class SignInAttempts {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Stores a sign-in, sends the cookie and returns the secrets for the provider. */
  async begin(ctx: HttpContext, attempt: SignInAttempt, redirectUri: string): Promise<SignInSecrets> {
    const browser = cookie.send(ctx);
    const secrets: SignInSecrets = { redirectUri, state: random(), nonce: random(), verifier: random() };
    const stored: StoredAttempt = { ...attempt, secrets, browser: sha256(browser) };
    await this.#store.set(attemptKey(secrets.state), JSON.stringify(stored), ATTEMPT_SECONDS * 1000);
    return secrets;
  }

  /** Returns the sign-in with this state once, to the browser that began it. Throws 400 otherwise. */
  async redeem(
    ctx: HttpContext,
    provider: string,
    state: string | undefined,
  ): Promise<SignInAttempt & { readonly secrets: SignInSecrets }> {
    const key = attemptKey(state ?? "");
    const text = await this.#store.get(key);
    const attempt = text === null ? null : (JSON.parse(text) as StoredAttempt);
    const browser = cookie.read(ctx);
    // Checked before it is deleted, so that another browser cannot spoil it.
    const isOwn = browser !== null && attempt?.browser === sha256(browser) && attempt.provider === provider;
    if (attempt === null || !isOwn || !(await discard(this.#store, key)))
      throw new BadRequest("The sign-in has expired, was already used or began in another browser. Sign in again.", {
        code: "PROVIDER_STATE_INVALID",
      });
    return attempt;
  }
}

function attemptKey(state: string): string {
  return `provider-sign-in:${sha256(state)}`;
}

function random(): string {
  return randomBytes(32).toString("base64url");
}
