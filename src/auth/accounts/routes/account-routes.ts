import type { MiddlewareFunction } from "../../../http/routing/middleware.ts";
import { Router } from "../../../http/routing/router.ts";
import { crossSiteRefused, isForgeable } from "../../sessions/is-forgeable.ts";
import {
  type AccountOptions,
  type AccountRoute,
  type ResolvedAccountOptions,
  resolveAccountOptions,
} from "../account-options.ts";
import { Accounts } from "../accounts.ts";
import { emailRoutes } from "./email-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { loginRoute, logoutRoutes, refreshRoute, tokenRoute } from "./login-route.ts";
import { meRoute, sessionRoutes } from "./me-route.ts";
import { passwordRoute, resetRoutes } from "./password-route.ts";
import { registerRoute } from "./register-route.ts";
import { verifyRoutes } from "./verify-routes.ts";

/**
 * The routes of accounts: register, sign in by session or by tokens, refresh, sign out, devices, change and reset the password,
 * prove and change an address. Their limits are always on. `SessionMiddleware` and `AuthenticationMiddleware` run around them.
 *
 * What a failed sign-in answers is the same for every reason, and so is what a mail is asked for. `except` leaves routes out, for
 * your own in their place.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { type AccountModel, accountRoutes } from "portico/auth";
 *
 * declare const User: AccountModel;
 *
 * const app = new PorticoApp({ publicUrl: "https://shop.example" });
 * app.mount("/account", accountRoutes({ userModel: User, secret: env("TOKEN_SECRET"), audience: "bookshop" }));
 * ```
 */
export function accountRoutes(options: AccountOptions): Router {
  return accountRouter(resolveAccountOptions("accountRoutes", options, {}));
}

/** The same from options that were read. */
export function accountRouter(options: ResolvedAccountOptions): Router {
  const accounts = new Accounts(options);
  const router = new Router({ middleware: [noStore, ownPagesOnly] });
  for (const [name, declare] of Object.entries(ROUTES) as [AccountRoute, (typeof ROUTES)[AccountRoute]][])
    if (!options.except.includes(name)) declare(router, accounts);
  return router;
}

const ROUTES: Readonly<Record<AccountRoute, (router: Router, accounts: Accounts) => void>> = {
  register: registerRoute,
  login: loginRoute,
  token: tokenRoute,
  refresh: refreshRoute,
  logout: logoutRoutes,
  me: meRoute,
  sessions: sessionRoutes,
  password: passwordRoute,
  reset: resetRoutes,
  verify: verifyRoutes,
  email: emailRoutes,
  keys: keyRoutes,
};

/** What these routes answer is for one caller at one moment; and an address with a token in it is told to nobody. */
const noStore: MiddlewareFunction = async (ctx, next) => {
  if (ctx.kind === "http") ctx.response.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
  await next();
};

/** A page of a foreign origin signs nobody in, renews nothing and asks for no mails, with a cookie or without. */
const ownPagesOnly: MiddlewareFunction = async (ctx, next) => {
  if (isForgeable(ctx)) throw crossSiteRefused();
  await next();
};
