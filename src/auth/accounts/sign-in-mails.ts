import { randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { UserProtocol } from "../../http/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { sha256 } from "../sha256.ts";

/** The sign-in that an email completes. */
export interface MailedSignIn {
  readonly user: string;
  readonly email: string;
  readonly remember: boolean;
  /** The user's `credentialVersion` at the request. A new password changes it and so invalidates the email. */
  readonly version: number | null;
}

/** The link and the code of an email, which are equivalent. */
export interface SignInSecret {
  readonly token?: string;
  readonly code?: string;
}

interface StoredSignIn extends MailedSignIn {
  readonly token: string;
  readonly code: string;
}

/** How long an email can be used. */
export const SIGN_IN_MAIL_SECONDS = 600;
const CODE_DIGITS = 8;

/**
 * The emails that sign a user in, under the hash of the browser that asked for one. A browser has one at a time, and
 * only that browser can use it, once. Neither the link nor the code can be read from the store.
 */
export class SignInMails {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async issue(
    browser: string,
    { identity, credentialVersion }: UserProtocol,
    { email, remember }: Pick<MailedSignIn, "email" | "remember">,
  ): Promise<Required<SignInSecret>> {
    const token = randomBytes(32).toString("base64url");
    const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");
    const stored: StoredSignIn = {
      user: identity,
      email,
      remember,
      version: credentialVersion ?? null,
      token: hashOf(browser, token),
      code: hashOf(browser, code),
    };
    await this.#store.set(keyOf(browser), JSON.stringify(stored), SIGN_IN_MAIL_SECONDS * 1000);
    return { token, code };
  }

  /** Returns the sign-in of the browser to the first caller with its link or its code, and `null` to all others. */
  async redeem(browser: string, { token, code }: SignInSecret): Promise<MailedSignIn | null> {
    const text = await this.#store.get(keyOf(browser));
    if (text === null) return null;
    const stored = JSON.parse(text) as StoredSignIn;
    const isRight = token === undefined ? isSame(stored.code, browser, code) : isSame(stored.token, browser, token);
    return isRight && (await this.#store.delete(keyOf(browser))) ? stored : null;
  }
}

function isSame(hash: string, browser: string, given: string | undefined): boolean {
  return given !== undefined && timingSafeEqual(Buffer.from(hash), Buffer.from(hashOf(browser, given)));
}

function keyOf(browser: string): string {
  return `sign-in-mail:${hashOf(browser, "browser")}`;
}

function hashOf(browser: string, text: string): string {
  return sha256(`${browser}:${text}`);
}
