import { ConfigurationError } from "../../core/configuration-error.ts";
import { deriveSecret, secretsOf } from "../../core/key-ring.ts";
import type { Preset } from "../../http/router.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { AuthenticationMiddleware } from "../authentication-middleware.ts";
import { APIKeyAuthBackend } from "../backends/api-key-auth-backend.ts";
import type { AuthenticationBackend } from "../backends/authentication-backend.ts";
import { SessionAuthBackend } from "../backends/session-auth-backend.ts";
import { SessionMiddleware } from "../sessions/session-middleware.ts";
import type { AccountOptions } from "./account-options.ts";
import { accountRoutes } from "./account-routes.ts";
import { DeviceTokenBackend } from "./device-token-backend.ts";

/** How everything about signing in is set up. */
export interface AuthenticationOptions extends AccountOptions {
  /** More ways to sign in, asked after the built-in ones. @default [] */
  readonly backends?: readonly AuthenticationBackend[];
  /** Where the account routes stand; `false`: nowhere. @default "/account" */
  readonly accounts?: `/${string}` | false;
}

/**
 * Sessions, tokens, API keys and the account routes, from one secret: each purpose has a key of its own, derived from it.
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
  const { backends = [], accounts = "/account", ...account } = options;
  if (accounts !== false && (typeof accounts !== "string" || !accounts.startsWith("/")))
    throw new ConfigurationError("authentication.accounts", 'a path that begins with "/", or false', accounts);
  const secrets = secretsOf("authentication.secret", options.secret);
  const tokenSecrets = secrets.map((secret) => deriveSecret(secret, "access token"));
  const { audience, issuer, userModel, store } = account;
  const keys = account.keys ?? new APIKeys(store === undefined ? {} : { store });
  const routes = accountRoutes({ ...account, keys, secret: tokenSecrets });
  return {
    middleware: [
      new SessionMiddleware({ secret: secrets, ...(store === undefined ? {} : { store }) }),
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
