import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import {
  anything,
  type Complete,
  callable,
  flag,
  listOf,
  type OptionRule,
  objectRule,
  oneOf,
  optional,
  optionRule,
  positiveInteger,
  type Resolved,
  required,
  resolveOptions,
  someOf,
  strict,
  text,
  thing,
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { type PasskeyOptions, type ResolvedPasskeyOptions, resolvePasskeyOptions } from "../factors/passkey-options.ts";
import { IdentityProvider } from "../providers/identity-provider.ts";
import type { AccountModel } from "../users/account-model.ts";
import type { AccountEventHook } from "./account-event.ts";
import type { Impersonation } from "./impersonation.ts";
import { consoleMailer, type Mailer } from "./mailer.ts";
import type { HumanCheck } from "./require-human.ts";

/** Returns whether a password has leaked, for example by sending a prefix of its hash to a breach service. */
export type BreachCheck = (password: string) => Promise<boolean>;

const ACCOUNT_ROUTES = [
  "register",
  "login",
  "token",
  "refresh",
  "logout",
  "me",
  "sessions",
  "password",
  "reset",
  "verify",
  "email",
  "keys",
  "providers",
  "factors",
  "sign-in-mails",
] as const;

/** The name of an account route, as `except` takes it. */
export type AccountRoute = (typeof ACCOUNT_ROUTES)[number];

/** The options of the account routes. */
export interface AccountOptions {
  /** The user model: the class that `userModel(database)` of `portico/sql` returns, or one with the same `objects`. */
  readonly userModel: AccountModel;
  /** Signs the tokens: at least 32 bytes. In a list, the first secret signs and all of them verify. */
  readonly secret: Secret | readonly Secret[];
  /** `aud` of the access tokens: the name of this service. */
  readonly audience: string;
  /** `iss` of the access tokens. */
  readonly issuer?: string;
  /** Sends emails. @default a mailer that prints them; required in production */
  readonly mailer?: Mailer;
  /** Whether users must verify their email address before they can sign in. @default false */
  readonly verifyEmail?: boolean;
  /** Whether using a refresh token twice revokes its family immediately, even after a lost response. @default false */
  readonly strictRefresh?: boolean;
  /**
   * The page that a password reset link opens: a URL, or a path under the app's `publicUrl`. @default "/reset-password"
   */
  readonly resetPage?: string;
  /** The page that an email verification link opens. @default "/verify-email" */
  readonly verifyPage?: string;
  /** The page that an email change link opens. @default "/change-email" */
  readonly emailPage?: string;
  /** The page that a failed sign-in with a provider returns to, with `?error=` and a code. @default "/sign-in" */
  readonly signInPage?: string;
  /** The identity providers that users can sign in with: `oidc(...)`, `google(...)`, `github(...)`. @default [] */
  readonly providers?: readonly IdentityProvider[];
  /**
   * Whether users can sign in with a link or a code in an email, in the browser that asked for it. It makes the mailbox
   * a way to sign in. @default false
   */
  readonly signInMails?: boolean;
  /** The page that a link to sign in opens. @default "/sign-in-link" */
  readonly signInLinkPage?: string;
  /**
   * Whether to remember the devices of users: a sign-in on a new one sends an email, and on a known one it has its own
   * budget of attempts, so that strangers cannot lock the owner out. @default false
   */
  readonly knownDevices?: boolean;
  /** Checks whether a new password has leaked, after the built-in list of common passwords. @default none */
  readonly isBreached?: BreachCheck;
  /**
   * Checks that a person sent the request, before a password is checked, a user registered or a reset link sent. While it
   * fails, these requests are rejected with 503. @default none
   */
  readonly isHuman?: HumanCheck;
  /** Whether a new password is accepted or rejected with 503 when `isBreached` fails. @default "allow" */
  readonly breachCheckFailure?: "allow" | "block";
  /** How recent a sign-in must be for sensitive actions such as creating keys, in seconds. @default 600 */
  readonly freshSeconds?: number;
  /** Routes to leave out, so that you can replace them with your own. @default [] */
  readonly except?: readonly AccountRoute[];
  /**
   * Lets users sign in with passkeys (WebAuthn), and use one as second factor. Requires the package
   * `@simplewebauthn/server`. @default none
   */
  readonly passkeys?: PasskeyOptions;
  /** Called for every account event, in addition to the log line: for an audit log. @default none */
  readonly onEvent?: AccountEventHook;
  /**
   * Whether a request to the account routes fails with 503 if `onEvent` fails for one of its events, so that nothing happens
   * without its entry. It needs `onEvent`. @default "optional"
   */
  readonly accountLog?: "optional" | "required";
  /** The store for refresh token families, API keys and links. @default the app's durable store */
  readonly store?: KeyValueStore;
  /** The API keys, if your own backend or routes use them too. @default the keys in `store` */
  readonly keys?: APIKeys;
}

export interface ResolvedAccountOptions
  extends Complete<
    Omit<AccountOptions, "secret" | "passkeys">,
    "issuer" | "store" | "keys" | "onEvent" | "isBreached" | "isHuman"
  > {
  readonly passkeys: ResolvedPasskeyOptions | undefined;
  readonly secret: readonly [Secret, ...Secret[]];
  /** Whether the application sends emails, with its own mailer. */
  readonly isMailed: boolean;
  /** `authentication` sets it, which also has the backend that it needs. */
  readonly impersonation?: Impersonation;
}

/**
 * Resolves the account options together with the caller's `others`. An error names the option that is wrong and never
 * shows a secret.
 */
export function resolveAccountOptions<const R extends Readonly<Record<string, OptionRule<any>>>>(
  owner: string,
  given: AccountOptions,
  others: R,
): ResolvedAccountOptions & Resolved<R> {
  const read = resolveOptions(owner, given, { ...rules, ...others });
  const options = read as Resolved<typeof rules>;
  if (options.accountLog === "required" && options.onEvent === undefined)
    throw new ConfigurationError(`${owner}.accountLog`, "is required, but there is no onEvent that keeps the events");
  if (options.verifyEmail && options.userModel.objects.setUsername === undefined)
    throw new ConfigurationError(
      `${owner}.verifyEmail`,
      "requires userModel.objects.setUsername: a user gets the username of the registration when the address is verified",
    );
  const names = options.providers.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ConfigurationError(`${owner}.providers`, `has two providers called "${twice}"`);
  return {
    ...(read as Resolved<R>),
    ...options,
    secret: secretsOf(`${owner}.secret`, options.secret),
    passkeys: options.passkeys && resolvePasskeyOptions(`${owner}.passkeys`, options.passkeys),
    isMailed: options.mailer !== undefined,
    mailer: (options.mailer as Mailer | undefined) ?? defaultMailer(owner),
  };
}

function defaultMailer(owner: string): Mailer {
  if (isProduction())
    throw new ConfigurationError(`${owner}.mailer`, "is required in production: the default mailer only prints emails");
  return consoleMailer();
}

/** Rejects a query, a fragment and a backslash: the token is appended as the query. */
export const pageRule: OptionRule<string> = optionRule<string>(
  "a URL, or a path that begins with a single slash",
  (value) => {
    if (typeof value !== "string" || /[\s\\#?]/.test(value)) return false;
    return /^\/(?!\/)/.test(value) || (URL.canParse(value) && /^https?:/.test(value));
  },
);

const rules = {
  userModel: required(
    optionRule<AccountModel>("a user model with loadUser(identity) and objects", (value) => {
      const model = value as Partial<AccountModel> | null;
      return typeof model?.loadUser === "function" && typeof model.objects?.authenticate === "function";
    }),
  ),
  // `secretsOf` reads it, because the error of a rule would show the value.
  secret: anything,
  audience: required(strict(text)),
  issuer: strict(text),
  mailer: callable,
  verifyEmail: optional(flag, false),
  strictRefresh: optional(flag, false),
  resetPage: optional(pageRule, "/reset-password"),
  verifyPage: optional(pageRule, "/verify-email"),
  emailPage: optional(pageRule, "/change-email"),
  signInPage: optional(pageRule, "/sign-in"),
  providers: optional(
    listOf<IdentityProvider>(
      "a list of identity providers, such as oidc(...)",
      (entry) => entry instanceof IdentityProvider,
    ),
    [],
  ),
  knownDevices: optional(flag, false),
  signInMails: optional(flag, false),
  signInLinkPage: optional(pageRule, "/sign-in-link"),
  isBreached: callable as typeof callable & { read: (value: unknown) => BreachCheck },
  isHuman: callable as typeof callable & { read: (value: unknown) => HumanCheck },
  breachCheckFailure: optional(oneOf("allow", "block"), "allow"),
  freshSeconds: optional(positiveInteger, 600),
  except: optional(someOf(...ACCOUNT_ROUTES), []),
  passkeys: objectRule<PasskeyOptions>("an object with rpName"),
  accountLog: optional(oneOf("optional", "required"), "optional"),
  onEvent: callable as typeof callable & { read: (value: unknown) => AccountEventHook },
  keys: thing<APIKeys>("an APIKeys object", (value) => value instanceof APIKeys),
  store: keyValueStore,
};
