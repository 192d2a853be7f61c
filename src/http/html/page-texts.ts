/**
 * The texts of all pages and emails that Portico sends to people, in English. A text keeps its `{holes}` in every language.
 *
 * @example
 * ```ts
 * import { englishTexts, type PageTexts, PorticoApp } from "portico";
 *
 * const texts: PageTexts = {
 *   ...englishTexts,
 *   signIn: { ...englishTexts.signIn, title: "Log in", submit: "Log in" },
 * };
 * const app = new PorticoApp({ title: "Bookshop", brand: { texts } });
 * ```
 */
export const englishTexts = {
  /** The language of the texts, as `lang` of a page: `en`, `de-AT`. Dates are written in it. */
  language: "en",
  needsJavaScript: "This page needs JavaScript.",
  toSignIn: "Go to the sign-in page",
  /** The fields that several pages have. */
  fields: {
    email: "Email address",
    password: "Password",
    newPassword: "New password",
    currentPassword: "Current password",
    remember: "Keep me signed in",
    code: "Code",
    codeFromEmail: "Code from the email",
    codeFromApp: "Code from your authenticator app, or a recovery code",
  },
  /** The pages of errors, by status. */
  errors: {
    401: { title: "Sign in", text: "You must sign in to see this page." },
    403: { title: "No permission", text: "Your account has no permission to see this page." },
    404: { title: "Page not found", text: "This page doesn't exist, or you can't see it." },
    429: { title: "Too many requests", text: "Wait a moment, then try again." },
    500: { title: "Something went wrong", text: "The page could not be shown. The error has been recorded." },
    503: { title: "Unavailable", text: "The page is unavailable at the moment. Try again soon." },
    reference: "Reference:",
    signIn: "Sign in",
    signInAsOther: "Sign in with another account",
  },
  signIn: {
    title: "Sign in",
    name: "Email address or username",
    submit: "Sign in",
    forgot: "Forgot your password?",
    passkey: "Sign in with a passkey",
    provider: "Sign in with {provider}",
    register: "Create an account",
    mailTitle: "Sign in by email",
    sendMail: "Send me an email",
    submitCode: "Sign in with the code",
  },
  secondFactor: {
    title: "Second factor",
    submit: "Continue",
    passkey: "Use a passkey",
    otherWay: "Sign in another way",
  },
  stepUp: {
    title: "Confirm that it's you",
    password: "Continue with the password",
    code: "Continue with the code",
    passkey: "Continue with a passkey",
    otherWay: "Sign in another way",
    noFactor:
      "This action needs a second factor, and your account has none. Add an authenticator app or a passkey first.",
    addFactor: "Go to your account",
  },
  register: {
    title: "Create an account",
    username: "Username (optional)",
    submit: "Create an account",
    signIn: "Sign in",
  },
  /** The pages that the links of emails open. */
  reset: { title: "Reset your password", submit: "Set the password", request: "Send me a link" },
  verify: {
    title: "Confirm your email address",
    password: "Your password, if you are not signed in (without it, you set a new one)",
    submit: "Confirm my email address",
    request: "Send me a link",
  },
  changeEmail: { title: "Change your email address", submit: "Change my email address" },
  signInLink: { title: "Sign in", submit: "Sign in" },
  account: {
    title: "Your account",
    signedInAs: "Signed in as",
    signOut: "Sign out",
    sendCode: "Send me a code to confirm my email address",
    confirmEmail: "Confirm my email address",
    recoveryTitle: "Recovery codes",
    recoveryText:
      "Store these codes now: they are not shown again. Each of them signs you in once if you lose your second factor.",
    devicesTitle: "Devices",
    signOutEverywhere: "Sign out on all devices",
    passwordTitle: "Password",
    changePassword: "Change the password",
    noPassword: "No password yet, or forgotten?",
    emailTitle: "Email address",
    newEmail: "New email address",
    changeEmail: "Change the email address",
    appTitle: "Authenticator app",
    setUpApp: "Set up an authenticator app",
    scan: "Scan the image with the app, or type the key. Then enter the code that the app shows.",
    qr: "QR code of the key",
    key: "Key:",
    confirmApp: "Confirm",
    removeApp: "Remove the authenticator app",
    replaceCodes: "Replace the recovery codes",
    passkeysTitle: "Passkeys",
    passkeyName: "Name of the new passkey (optional)",
    addPasskey: "Add a passkey",
    providersTitle: "Linked providers",
  },
  /** The texts that the script of the account pages shows. */
  messages: {
    offline: "The server could not be reached. Try again.",
    failed: "The server returned an error. Try again later.",
    signInFailed: "Signing in failed. Try again.",
    passkeyCancelled: "The passkey request was cancelled or timed out.",
    passkeyExists: "This device already has a passkey of your account.",
    mailSent: "Request received. If it applies, you'll get an email shortly.",
    registered:
      "You can sign in now. If the address already has an account, or must be confirmed first, you'll get an email.",
    passwordSet: "Your password was changed. You can sign in with it now.",
    passwordChanged: "Your password was changed. All other devices were signed out.",
    emailConfirmed: "Your email address is confirmed. If you can't sign in, reset your password.",
    emailChanged: "Your email address was changed.",
    signedInAs: "Signed in as {name}",
    notConfirmed: "not confirmed",
    thisDevice: "This device",
    lastUsed: "Last used {date}",
    deviceSignedOut: "The device was signed out.",
    signOut: "Sign out",
    link: "Link",
    unlink: "Unlink",
    unlinked: "{provider} was unlinked.",
    notSetUp: "Not set up.",
    setUpOn: "Set up on {date}.",
    codesLeft: "Unused recovery codes: {count}.",
    noPasskeys: "No passkeys yet.",
    addedOn: "Added on {date}",
    rename: "Rename",
    newName: "New name of the passkey",
    renamed: "The passkey was renamed.",
    remove: "Remove",
    removed: "The passkey was removed.",
    passkeyAdded: "The passkey was added.",
  },
  /** The messages for the codes of errors. A code without one shows the sentence of the server, which is English. */
  problems: {
    email_not_verified: "Confirm your email address first.",
    invalid_credentials: "Incorrect username or password.",
    /** Instead of the one above, if users must verify their email address before they sign in. */
    invalid_credentials_or_unverified: "Incorrect username or password, or the email address is not confirmed yet.",
    invalid_passkey: "The passkey could not be verified.",
    invalid_second_factor: "Incorrect code.",
    link_invalid: "The link is invalid or has expired.",
    password_breached: "This password has appeared in a data breach. Choose another one.",
    password_too_common: "This password is too common. Choose another one.",
    provider_already_linked: "The provider's account is linked to another user, or you have linked another one.",
    provider_denied: "The sign-in was cancelled.",
    provider_email_not_verified: "Verify your email address at the provider first.",
    provider_email_refused: "Sign in with an account of your organization.",
    provider_link_required:
      "You already have an account with this email address. Sign in another way, then link the provider on your account page.",
    provider_unavailable: "The provider is unavailable. Try again later, or sign in another way.",
    rate_limited: "Too many attempts. Try again in {wait}.",
    sign_in_again: "Sign in again to continue.",
    sign_in_expired: "The sign-in took too long. Sign in again.",
    unauthenticated: "Sign in to continue.",
  },
  /** The emails. */
  mails: {
    ignore: "If you did not ask for this email, you can ignore it.",
    notYou: "If this was not you, reset your password and look at the devices in your account.",
    code: "Or enter this code:",
    reset: {
      subject: "Reset your password",
      text: "Open this link to set a new password. It works once.",
      action: "Set a new password",
    },
    verify: {
      subject: "Confirm your email address",
      text: "Open this link to confirm that this email address is yours.",
      action: "Confirm the address",
    },
    change_email: {
      subject: "Confirm your new email address",
      text: "Open this link to use this email address for your account.",
      action: "Use this address",
    },
    sign_in: {
      subject: "Sign in",
      text: "Open this link in the browser that asked for it. It works once, for ten minutes.",
      action: "Sign in",
    },
    already_registered: {
      subject: "You already have an account",
      text: "Someone tried to create an account with this email address, which already has one. If it was you, sign in instead.",
    },
    password_changed: { subject: "Your password was changed", text: "The password of your account was changed." },
    email_changed: {
      subject: "Your email address was changed",
      text: "Your account has another email address now. Emails about it no longer come here.",
    },
    new_device: {
      subject: "New sign-in to your account",
      text: "Someone signed in to your account on a new device: {device}.",
    },
    second_factor_enrolled: {
      subject: "Authenticator app added",
      text: "An authenticator app was added to your account.",
    },
    second_factor_removed: {
      subject: "Authenticator app removed",
      text: "The authenticator app was removed from your account.",
    },
    second_factors_reset: {
      subject: "Second factors removed",
      text: "An operator removed all second factors of your account. You can sign in without them now.",
    },
    passkey_added: { subject: "Passkey added", text: "A passkey was added to your account." },
    passkey_removed: { subject: "Passkey removed", text: "A passkey was removed from your account." },
    recovery_code_used: {
      subject: "Recovery code used",
      text: "Someone signed in to your account with a recovery code.",
    },
    recovery_codes_created: {
      subject: "New recovery codes",
      text: "Your account has new recovery codes. The old ones no longer work.",
    },
    provider_linked: { subject: "Sign-in linked", text: "{provider} was linked to your account." },
    provider_unlinked: { subject: "Sign-in unlinked", text: "{provider} was unlinked from your account." },
  },
} as const;

/**
 * A table of all texts, for another language. A missing key, an unknown one and a missing hole don't compile.
 *
 * @example
 * ```ts
 * import { englishTexts, type PageTexts } from "portico";
 *
 * const german: PageTexts = {
 *   ...englishTexts,
 *   language: "de",
 *   errors: {
 *     ...englishTexts.errors,
 *     404: { title: "Seite nicht gefunden", text: "Diese Seite gibt es nicht." },
 *   },
 * };
 * ```
 */
export type PageTexts = Translated<typeof englishTexts>;

/** The texts of the script of the account pages, which also finds the message of an error code in them. */
export interface ScriptTexts extends Readonly<Record<keyof PageTexts["messages"], string>> {
  readonly language: string;
  readonly problems: Readonly<Record<string, string>>;
}

type Translated<T> = T extends string
  ? Holes<T> extends never
    ? string
    : WithHole<Holes<T>>
  : { readonly [K in keyof T]: Translated<T[K]> };

/** The names of the holes of a text. */
type Holes<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;

/** A text with each of these holes. */
type WithHole<Name extends string> = (
  Name extends string
    ? (text: `${string}{${Name}}${string}`) => void
    : never
) extends (text: infer Text) => void
  ? Text
  : never;

/** The first fault of a table that wasn't compiled with its type, or `undefined`. */
export function faultOfTexts(texts: unknown, expected: unknown = englishTexts, at = ""): string | undefined {
  if (typeof expected === "string") {
    if (typeof texts !== "string") return `${at} must be a text`;
    const lost = (expected.match(/\{\w+\}/g) ?? []).find((hole) => !texts.includes(hole));
    return lost === undefined ? undefined : `${at} must contain ${lost}`;
  }
  if (typeof texts !== "object" || texts === null) return at === "" ? "must be an object" : `${at} must be an object`;
  const known = expected as Readonly<Record<string, unknown>>;
  for (const key of new Set([...Object.keys(known), ...Object.keys(texts)])) {
    const place = at === "" ? key : `${at}.${key}`;
    if (!Object.hasOwn(known, key)) return `has an unknown text ${place}`;
    const fault = faultOfTexts((texts as Readonly<Record<string, unknown>>)[key], known[key], place);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
