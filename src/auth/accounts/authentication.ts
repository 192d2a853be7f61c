import { ConfigurationError } from "../../core/configuration-error.ts";
import { deriveSecret, type Secret } from "../../core/key-ring.ts";
import { flag, listOf, optional, optionRule, thing } from "../../core/resolve-options.ts";
import type { Preset } from "../../http/routing/router.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { AuthenticationMiddleware } from "../authentication-middleware.ts";
import { APIKeyAuthBackend } from "../backends/api-key-auth-backend.ts";
import { AuthenticationBackend } from "../backends/authentication-backend.ts";
import { SessionAuthBackend } from "../backends/session-auth-backend.ts";
import { accountPages } from "../pages/account-pages.ts";
import { SessionMiddleware } from "../sessions/session-middleware.ts";
import {
  type AccountOptions,
  pageRule,
  type ResolvedAccountOptions,
  resolveAccountOptions,
} from "./account-options.ts";
import { DeviceTokenBackend } from "./device-token-backend.ts";
import { Impersonation, type ImpersonationOptions } from "./impersonation.ts";
import { ImpersonationBackend } from "./impersonation-backend.ts";
import { accountRouter } from "./routes/account-routes.ts";

/** The options of `authentication`. */
export interface AuthenticationOptions extends AccountOptions {
  /**
   * Additional backends, tried after the built-in ones. They return identities that `userModel` can load. @default []
   */
  readonly backends?: readonly AuthenticationBackend[];
  /**
   * Lets administrators with a permission act as users, for support: `POST /account/impersonation`. @default none
   */
  readonly impersonation?: ImpersonationOptions;
  /** The path of the account routes, or `false` to leave them out. @default "/account" */
  readonly accounts?: `/${string}` | false;
  /**
   * Whether to serve unstyled pages for the account routes: at `signInPage`, `resetPage`, `verifyPage`, `emailPage`,
   * `signInLinkPage`, `registerPage` and `accountPage`. A page whose option is a URL is left out. @default false
   */
  readonly pages?: boolean;
  /** The page where people register, if `pages` is set. @default "/register" */
  readonly registerPage?: string;
  /** The page where users manage their account, if `pages` is set. @default "/account" */
  readonly accountPage?: string;
}

/**
 * Sessions, tokens, API keys and the account routes, from one secret. Each purpose uses its own key, derived from the
 * secret.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { type AccountModel, authentication, useAuth } from "portico/auth";
 *
 * declare const User: AccountModel;
 *
 * const app = new PorticoApp({ publicUrl: "https://shop.example" });
 * app.use(authentication({ userModel: User, secret: env("SECRET"), audience: "bookshop" }));
 * app.get("/orders", { auth: useAuth() }, ({ user }) => `the orders of ${user.displayName}`);
 * ```
 */
export function authentication(options: AuthenticationOptions): Preset {
  const {
    backends,
    accounts,
    pages,
    impersonation: given,
    ...account
  } = resolveAccountOptions("authentication", options, rules);
  const { secret, audience, issuer, userModel, store } = account;
  const tokenSecrets = derived(secret);
  const keys = account.keys ?? new APIKeys(store === undefined ? {} : { store });
  const impersonation = given && new Impersonation("authentication.impersonation", given);
  const routes = accountRouter({ ...account, keys, secret: tokenSecrets, ...(impersonation && { impersonation }) });
  return {
    name: "authentication",
    middleware: [
      new SessionMiddleware({ secret, ...(store === undefined ? {} : { store }) }),
      new AuthenticationMiddleware({
        userModel,
        backend: [
          new DeviceTokenBackend(
            {
              secretKey: tokenSecrets,
              identifier: "sub",
              typ: "at+jwt",
              audience,
              ...(issuer === undefined ? {} : { issuer }),
            },
            account,
          ),
          impersonation === undefined ? new SessionAuthBackend() : new ImpersonationBackend(userModel, impersonation),
          new APIKeyAuthBackend({ keys }),
          ...backends,
        ],
      }),
    ],
    routers: [
      ...(accounts === false ? [] : [[accounts, routes] as const]),
      ...(pages ? [["", accountPages(account, mountOf(accounts))] as const] : []),
    ],
  };
}

/** The pages need one URL for each account route. */
function mountOf(accounts: string | false): string {
  if (accounts === false || /[:*]/.test(accounts))
    throw new ConfigurationError("authentication.pages", "needs the account routes at a path without parameters");
  return accounts;
}

/** Derives separate keys, so that the key for access tokens signs nothing else. */
function derived([first, ...older]: ResolvedAccountOptions["secret"]): readonly [Uint8Array, ...Uint8Array[]] {
  return [forTokens(first), ...older.map(forTokens)];
}

function forTokens(secret: Secret): Uint8Array {
  return deriveSecret(secret, "access token");
}

const rules = {
  pages: optional(flag, false),
  registerPage: optional(pageRule, "/register"),
  accountPage: optional(pageRule, "/account"),
  backends: optional(
    listOf<AuthenticationBackend>(
      "a list of AuthenticationBackend objects",
      (entry) => entry instanceof AuthenticationBackend,
    ),
    [],
  ),
  impersonation: thing<ImpersonationOptions>(
    "an object with permission",
    (value) => typeof value === "object" && value !== null,
  ),
  accounts: optional(
    optionRule<`/${string}` | false>(
      'a path that begins with "/", or false',
      (value) => value === false || (typeof value === "string" && value.startsWith("/")),
    ),
    "/account",
  ),
};
