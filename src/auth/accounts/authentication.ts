import { deriveSecret, type Secret } from "../../core/key-ring.ts";
import { listOf, optional, optionRule } from "../../core/resolve-options.ts";
import type { Preset } from "../../http/routing/router.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { AuthenticationMiddleware } from "../authentication-middleware.ts";
import { APIKeyAuthBackend } from "../backends/api-key-auth-backend.ts";
import { AuthenticationBackend } from "../backends/authentication-backend.ts";
import { SessionAuthBackend } from "../backends/session-auth-backend.ts";
import { SessionMiddleware } from "../sessions/session-middleware.ts";
import { type AccountOptions, type ResolvedAccountOptions, resolveAccountOptions } from "./account-options.ts";
import { DeviceTokenBackend } from "./device-token-backend.ts";
import { accountRouter } from "./routes/account-routes.ts";

/** The options of `authentication`. */
export interface AuthenticationOptions extends AccountOptions {
  /**
   * Additional backends, tried after the built-in ones. They return identities that `userModel` can load. @default []
   */
  readonly backends?: readonly AuthenticationBackend[];
  /** The path of the account routes, or `false` to leave them out. @default "/account" */
  readonly accounts?: `/${string}` | false;
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
  const { backends, accounts, ...account } = resolveAccountOptions("authentication", options, rules);
  const { secret, audience, issuer, userModel, store } = account;
  const tokenSecrets = derived(secret);
  const keys = account.keys ?? new APIKeys(store === undefined ? {} : { store });
  const routes = accountRouter({ ...account, keys, secret: tokenSecrets });
  return {
    name: "authentication",
    middleware: [
      new SessionMiddleware({ secret, ...(store === undefined ? {} : { store }) }),
      new AuthenticationMiddleware({
        userModel,
        backend: [
          new DeviceTokenBackend({
            secretKey: tokenSecrets,
            identifier: "sub",
            typ: "at+jwt",
            audience,
            ...(issuer === undefined ? {} : { issuer }),
          }),
          new SessionAuthBackend(),
          new APIKeyAuthBackend({ keys }),
          ...backends,
        ],
      }),
    ],
    routers: accounts === false ? [] : [[accounts, routes]],
  };
}

/** Derives separate keys, so that the key for access tokens signs nothing else. */
function derived([first, ...older]: ResolvedAccountOptions["secret"]): readonly [Uint8Array, ...Uint8Array[]] {
  return [forTokens(first), ...older.map(forTokens)];
}

function forTokens(secret: Secret): Uint8Array {
  return deriveSecret(secret, "access token");
}

const rules = {
  backends: optional(
    listOf<AuthenticationBackend>(
      "a list of AuthenticationBackend objects",
      (entry) => entry instanceof AuthenticationBackend,
    ),
    [],
  ),
  accounts: optional(
    optionRule<`/${string}` | false>(
      'a path that begins with "/", or false',
      (value) => value === false || (typeof value === "string" && value.startsWith("/")),
    ),
    "/account",
  ),
};
