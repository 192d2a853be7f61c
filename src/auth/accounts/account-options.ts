import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import {
  callable,
  flag,
  listOf,
  type OptionRule,
  optional,
  optionRule,
  positiveInteger,
  type Resolved,
  resolveOptions,
  text,
  thing,
} from "../../core/resolve-options.ts";
import { type KeyValueStore, keyValueStore } from "../../stores/key-value-store.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { type PasskeyOptions, type ResolvedPasskeyOptions, resolvePasskeyOptions } from "../factors/passkey-options.ts";
import { IdentityProvider } from "../providers/identity-provider.ts";
import type { AccountModel } from "../users/account-model.ts";
import type { AccountEventHook } from "./account-event.ts";
import type { BreachCheck } from "./check-new-password.ts";
import type { Impersonation } from "./impersonation.ts";
import { consoleMailer, type Mailer } from "./mailer.ts";
import type { HumanCheck } from "./require-human.ts";

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
  /** The store for refresh token families, API keys and links. @default the app's durable store */
  readonly store?: KeyValueStore;
  /** The API keys, if your own backend or routes use them too. @default the keys in `store` */
  readonly keys?: APIKeys;
}

export interface ResolvedAccountOptions
  extends Required<
    Omit<AccountOptions, "secret" | "issuer" | "store" | "keys" | "onEvent" | "isBreached" | "isHuman" | "passkeys">
  > {
  readonly passkeys: ResolvedPasskeyOptions | undefined;
  readonly secret: readonly [Secret, ...Secret[]];
  readonly issuer: string | undefined;
  readonly store: KeyValueStore | undefined;
  readonly keys: APIKeys | undefined;
  readonly onEvent: AccountEventHook | undefined;
  readonly isBreached: BreachCheck | undefined;
  readonly isHuman: HumanCheck | undefined;
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
  const { userModel, audience } = options;
  if (userModel === undefined) throw new ConfigurationError(`${owner}.userModel`, "is missing");
  if (audience === undefined) throw new ConfigurationError(`${owner}.audience`, "is missing");
  const names = options.providers.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ConfigurationError(`${owner}.providers`, `has two providers called "${twice}"`);
  return {
    ...(read as Resolved<R>),
    ...options,
    userModel,
    audience,
    secret: secretsOf(`${owner}.secret`, options.secret),
    passkeys: options.passkeys && resolvePasskeyOptions(`${owner}.passkeys`, options.passkeys),
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
  userModel: optionRule<AccountModel>("a user model with loadUser(identity) and objects", (value) => {
    const model = value as Partial<AccountModel> | null;
    return typeof model?.loadUser === "function" && typeof model.objects?.authenticate === "function";
  }),
  // `secretsOf` reads it, because the error of a rule would show the value.
  secret: optionRule<unknown>("a secret", () => true),
  audience: { ...text, strict: true as const },
  issuer: { ...text, strict: true as const },
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
  breachCheckFailure: optional(
    optionRule<"allow" | "block">('"allow" or "block"', (value) => value === "allow" || value === "block"),
    "allow",
  ),
  freshSeconds: optional(positiveInteger, 600),
  except: optional(
    listOf<AccountRoute>(`a list of ${ACCOUNT_ROUTES.join(", ")}`, (entry) =>
      ACCOUNT_ROUTES.includes(entry as AccountRoute),
    ),
    [],
  ),
  passkeys: thing<PasskeyOptions>("an object with rpName", (value) => typeof value === "object" && value !== null),
  onEvent: callable as typeof callable & { read: (value: unknown) => AccountEventHook },
  keys: thing<APIKeys>("an APIKeys object", (value) => value instanceof APIKeys),
  store: keyValueStore,
};
