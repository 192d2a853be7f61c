import { ConfigurationError } from "../../core/configuration-error.ts";
import { deriveSecret, type Secret } from "../../core/key-ring.ts";
import { flag, listOf, objectRule, optional, orFalse, urlPath } from "../../core/resolve-options.ts";
import type { Preset } from "../../http/routing/router.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import {
  type AccountOptions,
  pageRule,
  type ResolvedAccountOptions,
  resolveAccountOptions,
} from "../accounts/account-options.ts";
import { Impersonation, type ImpersonationOptions } from "../accounts/impersonation.ts";
import { accountRouter } from "../accounts/routes/account-routes.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { APIKeyAuthBackend } from "../backends/api-key-auth-backend.ts";
import { AuthenticationBackend } from "../backends/authentication-backend.ts";
import { AuthenticationMiddleware } from "../backends/authentication-middleware.ts";
import { requiredSessions, SessionAuthBackend } from "../backends/session-auth-backend.ts";
import type { AuthResult } from "../callers/auth-result.ts";
import { accountPages } from "../pages/account-pages.ts";
import { SessionMiddleware } from "../sessions/session-middleware.ts";
import type { Acting, SessionRecord } from "../sessions/session-record.ts";
import type { AccountModel } from "../users/account-model.ts";
import { DeviceTokenBackend } from "./device-token-backend.ts";

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
   * Whether to serve pages for the account routes: at `signInPage`, `resetPage`, `verifyPage`, `emailPage`,
   * `signInLinkPage`, `registerPage`, `accountPage` and `stepUpPage`. A page whose option is a URL is left out. @default false
   */
  readonly pages?: boolean;
  /** The page where people register, if `pages` is set. @default "/register" */
  readonly registerPage?: string;
  /** The page where users manage their account, if `pages` is set. @default "/account" */
  readonly accountPage?: string;
  /**
   * The page where a signed-in user proves a second factor or signs in again, if `pages` is set. Send users there with the
   * code of the error and the path to continue at: `/step-up?error=second_factor_required&next=/payouts`. @default "/step-up"
   */
  readonly stepUpPage?: string;
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
  stepUpPage: optional(pageRule, "/step-up"),
  backends: optional(
    listOf<AuthenticationBackend>(
      "a list of AuthenticationBackend objects",
      (entry) => entry instanceof AuthenticationBackend,
    ),
    [],
  ),
  impersonation: objectRule<ImpersonationOptions>("an object with permission"),
  accounts: optional(orFalse(urlPath), "/account"),
};

/** Accepts sessions of administrators who act as another user, as long as the administrator may. */
class ImpersonationBackend extends SessionAuthBackend {
  readonly #userModel: AccountModel;
  readonly #impersonation: Impersonation;

  constructor(userModel: AccountModel, impersonation: Impersonation) {
    super();
    this.#userModel = userModel;
    this.#impersonation = impersonation;
  }

  /** Rejects when a store fails. */
  override async authenticate(request: PorticoRequest): Promise<AuthResult> {
    return requiredSessions(request).authenticate((record, acting) => this.#isPermitted(record, acting));
  }

  /** Checked for every request, because either user may have been disabled or got other permissions since. */
  async #isPermitted(record: SessionRecord, acting: Acting): Promise<boolean> {
    const [admin, user] = await Promise.all([
      this.#userModel.loadUser(record.user),
      this.#userModel.loadUser(acting.user),
    ]);
    if (admin === null || user === null) return false;
    return isCurrent(admin, record) && isCurrent(user, acting) && this.#impersonation.permits(admin, user);
  }
}

/** Whether the user's credentials have not been renewed since, by a new password or by "sign out everywhere". */
function isCurrent({ credentialVersion }: UserProtocol, { version }: { readonly version?: number }): boolean {
  return credentialVersion === undefined || version === undefined || credentialVersion === version;
}
