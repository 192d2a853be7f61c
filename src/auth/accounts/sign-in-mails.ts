import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import { readCode } from "../factors/read-code.ts";
import { SealedText } from "../factors/sealed-text.ts";
import type { SecretAttempt } from "../limits/secret-attempt.ts";
import { sha256 } from "../records/sha256.ts";
import { CODE_DIGITS, newMailedCode } from "./new-mailed-code.ts";

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

/** The options of a request for an email. */
type AskedSignIn = Pick<MailedSignIn, "email" | "remember">;

interface StoredSignIn extends MailedSignIn {
  readonly token: string;
  readonly code: string;
  /** Names the email. Several browsers may use one email, but it works once. */
  readonly mail?: string;
  /** Whether another browser asked for the email. */
  readonly isJoined?: boolean;
}

/** The newest email of a user. */
interface NewestMail extends Required<SignInSecret> {
  readonly until: number;
}

/** How long an email can be used. */
export const SIGN_IN_MAIL_SECONDS = 600;

/**
 * The emails that sign a user in, under the hash of the browser that asked for one. A browser has one at a time, and only a
 * browser that asked can use it. An email works once. Neither the link nor the code can be read from the store.
 */
export class SignInMails {
  readonly #store: KeyValueStore;
  readonly #sealed: SealedText;
  readonly #clock: Clock;

  /** @param secrets the first encrypts the newest email of a user, and all of them decrypt */
  constructor(store: KeyValueStore, secrets: readonly Secret[], clock: Clock) {
    this.#store = store;
    this.#sealed = new SealedText(secrets, "sign-in mail");
    this.#clock = clock;
  }

  /** Issues the link and the code of an email for this browser. */
  async issue(browser: string, user: UserProtocol, asked: AskedSignIn): Promise<Required<SignInSecret>> {
    const token = randomBytes(32).toString("base64url");
    const code = newMailedCode();
    const ttlMs = SIGN_IN_MAIL_SECONDS * 1000;
    const newest: NewestMail = { token, code, until: this.#clock.now() + ttlMs };
    const place = newestKey(user.identity);
    await this.#store.set(mailKey(mailOf(token)), "", ttlMs);
    await this.#keep(browser, user, asked, { newest, isJoined: false });
    await this.#store.set(place, this.#sealed.seal(JSON.stringify(newest), place), ttlMs);
    return { token, code };
  }

  /** Lets this browser use the newest email of the user, which another browser may have asked for. */
  async join(browser: string, user: UserProtocol, asked: AskedSignIn): Promise<void> {
    const place = newestKey(user.identity);
    const sealed = await this.#store.get(place);
    const text = sealed === null ? null : this.#sealed.open(sealed, place);
    if (text !== null)
      await this.#keep(browser, user, asked, { newest: JSON.parse(text) as NewestMail, isJoined: true });
  }

  /**
   * Returns the sign-in of the browser to the first caller with its link or its code, and `null` to all others.
   *
   * @param mayGuess whether the user has attempts left for codes of emails that another browser asked for: strangers can have
   * any number of browsers. The link cannot be guessed, so it always works.
   */
  async redeem(
    attempt: SecretAttempt,
    browser: string,
    { token, code }: SignInSecret,
    mayGuess: (user: string) => Promise<boolean>,
  ): Promise<MailedSignIn | null> {
    const text = await this.#store.get(keyOf(browser));
    if (text === null) return null;
    const stored = JSON.parse(text) as StoredSignIn;
    if (token === undefined && stored.isJoined === true && !(await mayGuess(stored.user))) return null;
    attempt.compares();
    const isRight =
      token === undefined
        ? isSame(stored.code, browser, readCode(code ?? "", CODE_DIGITS))
        : isSame(stored.token, browser, token);
    if (!isRight || !(await discard(this.#store, keyOf(browser)))) return null;
    return stored.mail === undefined || (await discard(this.#store, mailKey(stored.mail))) ? stored : null;
  }

  async #keep(
    browser: string,
    { identity, credentialVersion }: UserProtocol,
    asked: AskedSignIn,
    { newest, isJoined }: { readonly newest: NewestMail; readonly isJoined: boolean },
  ): Promise<void> {
    const stored: StoredSignIn = {
      ...asked,
      user: identity,
      version: credentialVersion ?? null,
      token: hashOf(browser, newest.token),
      code: hashOf(browser, newest.code),
      mail: mailOf(newest.token),
      isJoined,
    };
    const leftMs = newest.until - this.#clock.now();
    if (leftMs > 0) await this.#store.set(keyOf(browser), JSON.stringify(stored), leftMs);
  }
}

function isSame(hash: string, browser: string, given: string | null): boolean {
  return given !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(hashOf(browser, given)));
}

function keyOf(browser: string): string {
  return `sign-in-mail:${hashOf(browser, "browser")}`;
}

function hashOf(browser: string, text: string): string {
  return sha256(`${browser}:${text}`);
}

/** Names an email without its secrets. */
function mailOf(token: string): string {
  return sha256(`mail:${token}`);
}

function mailKey(mail: string): string {
  return `sign-in-mail-sent:${mail}`;
}

function newestKey(user: string): string {
  return `sign-in-mail-newest:${sha256(user)}`;
}
