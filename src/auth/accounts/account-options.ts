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
import type { AccountModel } from "../users/account-model.ts";
import type { AccountEventHook } from "./account-event.ts";
import type { BreachCheck } from "./check-new-password.ts";
import { consoleMailer, type Mailer } from "./mailer.ts";

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
  /** Checks whether a new password has leaked, after the built-in list of common passwords. @default none */
  readonly isBreached?: BreachCheck;
  /** Whether a new password is accepted or rejected with 503 when `isBreached` fails. @default "allow" */
  readonly breachCheckFailure?: "allow" | "block";
  /** How recent a sign-in must be for sensitive actions such as creating keys, in seconds. @default 600 */
  readonly freshSeconds?: number;
  /** Routes to leave out, so that you can replace them with your own. @default [] */
  readonly except?: readonly AccountRoute[];
  /** Called for every account event, in addition to the log line: for an audit log. @default none */
  readonly onEvent?: AccountEventHook;
  /** The store for refresh token families, API keys and links. @default the app's durable store */
  readonly store?: KeyValueStore;
  /** The API keys, if your own backend or routes use them too. @default the keys in `store` */
  readonly keys?: APIKeys;
}

export interface ResolvedAccountOptions
  extends Required<Omit<AccountOptions, "secret" | "issuer" | "store" | "keys" | "onEvent" | "isBreached">> {
  readonly secret: readonly [Secret, ...Secret[]];
  readonly issuer: string | undefined;
  readonly store: KeyValueStore | undefined;
  readonly keys: APIKeys | undefined;
  readonly onEvent: AccountEventHook | undefined;
  readonly isBreached: BreachCheck | undefined;
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
  return {
    ...(read as Resolved<R>),
    ...options,
    userModel,
    audience,
    secret: secretsOf(`${owner}.secret`, options.secret),
    mailer: (options.mailer as Mailer | undefined) ?? defaultMailer(owner),
  };
}

function defaultMailer(owner: string): Mailer {
  if (isProduction())
    throw new ConfigurationError(`${owner}.mailer`, "is required in production: the default mailer only prints emails");
  return consoleMailer();
}

/** Rejects a query, a fragment and a backslash: the token is appended as the query. */
const page = optionRule<string>("a URL, or a path that begins with a single slash", (value) => {
  if (typeof value !== "string" || /[\s\\#?]/.test(value)) return false;
  return /^\/(?!\/)/.test(value) || (URL.canParse(value) && /^https?:/.test(value));
});

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
  resetPage: optional(page, "/reset-password"),
  verifyPage: optional(page, "/verify-email"),
  emailPage: optional(page, "/change-email"),
  isBreached: callable as typeof callable & { read: (value: unknown) => BreachCheck },
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
  onEvent: callable as typeof callable & { read: (value: unknown) => AccountEventHook },
  keys: thing<APIKeys>("an APIKeys object", (value) => value instanceof APIKeys),
  store: keyValueStore,
};
