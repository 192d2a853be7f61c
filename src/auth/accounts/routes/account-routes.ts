import type { MiddlewareObject } from "../../../http/routing/middleware.ts";
import { Router } from "../../../http/routing/router.ts";
import type { MiddlewareFunction } from "../../../kernel/context/middleware-function.ts";
import { attemptSecret } from "../../limits/secret-attempt.ts";
import { crossSiteRefused, isForgeable } from "../../sessions/is-forgeable.ts";
import { accountLogMiddleware } from "../account-event.ts";
import {
  type AccountOptions,
  type AccountRoute,
  type ResolvedAccountOptions,
  resolveAccountOptions,
} from "../account-options.ts";
import { Accounts } from "../ownership/accounts.ts";
import { emailRoutes } from "./email-routes.ts";
import { factorRoutes } from "./factor-routes.ts";
import { impersonationRoutes, ownAccountOnly } from "./impersonation-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { loginRoute, logoutRoutes, refreshRoute, tokenRoute } from "./login-route.ts";
import { meRoute, sessionRoutes } from "./me-route.ts";
import { passwordRoute, resetRoutes } from "./password-route.ts";
import { providerRoutes } from "./providers/provider-routes.ts";
import { registerRoute } from "./register-route.ts";
import { signInMailRoutes } from "./sign-in-mail-routes.ts";
import { verifyRoutes } from "./verify-routes.ts";

/**
 * The account routes: register, sign in with a session or tokens, refresh, sign out, list devices, change and reset the
 * password, verify and change the email address, manage API keys and second factors. Their rate limits are always on. They need
 * `AuthenticationMiddleware`, and `SessionMiddleware` unless `except` leaves out `login` and `sessions`.
 *
 * A failed sign-in returns the same response for every reason, and so does every request for an email. Use `except` to
 * replace routes with your own.
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

/** Builds the router from resolved options. */
export function accountRouter(options: ResolvedAccountOptions): Router {
  const accounts = new Accounts(options);
  const { impersonation } = options;
  const log = accountLogMiddleware(options.onEvent, options.accountLog === "required");
  const router = new Router({ middleware: [noStore, ownPagesOnly, ownAccountOnly, attempts, log, needing(options)] });
  for (const [name, declare] of Object.entries(ROUTES) as [AccountRoute, (typeof ROUTES)[AccountRoute]][])
    if (!options.except.includes(name)) declare(router, accounts);
  if (impersonation !== undefined) impersonationRoutes(router, accounts, impersonation);
  return router.builtIn();
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
  providers: providerRoutes,
  factors: factorRoutes,
  "sign-in-mails": signInMailRoutes,
};

/** Names what the routes need in production. It does nothing else. */
function needing({ except, providers, passkeys, signInMails, ...pages }: ResolvedAccountOptions): MiddlewareObject {
  const mails = PAGES.some(
    ([route, page]) =>
      !except.includes(route) && (signInMails || route !== "sign-in-mails") && pages[page].startsWith("/"),
  );
  const isPasskeyBound = passkeys !== undefined && (passkeys.rpId === undefined || passkeys.origins === undefined);
  const publicUrl =
    (mails && "links in emails") ||
    (providers.length > 0 && !except.includes("providers") && "identity providers") ||
    (isPasskeyBound && "passkeys") ||
    undefined;
  return { handle: (_ctx, next) => next(), "~needs": { publicUrl, stores: "tokens and limits of attempts" } };
}

const PAGES = [
  ["reset", "resetPage"],
  ["verify", "verifyPage"],
  ["email", "emailPage"],
  ["sign-in-mails", "signInLinkPage"],
] as const;

/** These responses must not be cached, and a URL that contains a token must not leak as a referrer. */
const noStore: MiddlewareFunction = async (ctx, next) => {
  if (ctx.kind === "http") ctx.response.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
  await next();
};

/** Refunds what a request has counted against limits, if an outage ends it before it has compared a secret. */
const attempts: MiddlewareFunction = (ctx, next) => attemptSecret(ctx, [], next);

/** Rejects requests from pages of other origins (CSRF), with or without a cookie. */
const ownPagesOnly: MiddlewareFunction = async (ctx, next) => {
  if (isForgeable(ctx)) throw crossSiteRefused();
  await next();
};
