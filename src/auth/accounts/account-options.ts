import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import { type Secret, secretsOf } from "../../core/key-ring.ts";
import {
  callable,
  flag,
  listOf,
  optional,
  positiveInteger,
  type Resolved,
  type Rule,
  resolveOptions,
  rule,
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

/** How accounts work. */
export interface AccountOptions {
  /** The users: the class that `userModel(database)` of `portico/sql` gives, or one with the same `objects`. */
  readonly userModel: AccountModel;
  /** Makes the tokens: at least 32 bytes. Of a list the first signs, and all of them count. */
  readonly secret: Secret | readonly Secret[];
  /** `aud` of the access tokens: the name of this service. */
  readonly audience: string;
  /** `iss` of the access tokens. */
  readonly issuer?: string;
  /** Sends mails. @default one that prints them; in production there is none */
  readonly mailer?: Mailer;
  /** Whether only those sign in who have proved their address. @default false */
  readonly verifyEmail?: boolean;
  /** Whether a refresh token that is used twice ends its family at once, even after a lost response. @default false */
  readonly strictRefresh?: boolean;
  /** Where the link of a reset leads: an address, or a path below the application's `publicUrl`. @default "/reset-password" */
  readonly resetPage?: string;
  /** The same of the link that proves an address. @default "/verify-email" */
  readonly verifyPage?: string;
  /** The same of the link that changes an address. @default "/change-email" */
  readonly emailPage?: string;
  /** Asked for each new password whether it was stolen somewhere, after the built-in list of common ones. @default none */
  readonly isBreached?: BreachCheck;
  /** What happens to a new password while `isBreached` fails: it is taken, or answered 503. @default "allow" */
  readonly breachCheckFailure?: "allow" | "block";
  /** How long ago somebody must have signed in for what needs it, such as new keys, in seconds. @default 600 */
  readonly freshSeconds?: number;
  /** Routes that are left out: write your own in their place. @default [] */
  readonly except?: readonly AccountRoute[];
  /** Told of everything that happens to accounts, beside the application's log: for an audit log. @default none */
  readonly onEvent?: AccountEventHook;
  /** Where refresh families, keys and links are kept. @default the application's durable store */
  readonly store?: KeyValueStore;
  /** The API keys, where a backend or a route of your own has them too. @default those in `store` */
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
 * Reads the options once, and others beside them by rules of their own; a wrong one is named in the error, a secret never
 * shown.
 */
export function resolveAccountOptions<const R extends Readonly<Record<string, Rule<any>>>>(
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
    throw new ConfigurationError(`${owner}.mailer`, "is missing: the one that prints mails is not for production");
  return consoleMailer();
}

/** An address, or a path on the application's own. */
const page = rule<string>("a URL, or a path that begins with one slash", (value) => {
  if (typeof value !== "string" || /[\s\\#?]/.test(value)) return false;
  return /^\/(?!\/)/.test(value) || (URL.canParse(value) && /^https?:/.test(value));
});

const rules = {
  userModel: rule<AccountModel>("a user model with loadUser(identity) and objects", (value) => {
    const model = value as Partial<AccountModel> | null;
    return typeof model?.loadUser === "function" && typeof model.objects?.authenticate === "function";
  }),
  // Read on its own: an error of a rule would show what was given.
  secret: rule<unknown>("a secret", () => true),
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
    rule<"allow" | "block">('"allow" or "block"', (value) => value === "allow" || value === "block"),
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
  keys: thing<APIKeys>("an APIKeys", (value) => value instanceof APIKeys),
  store: keyValueStore,
};
