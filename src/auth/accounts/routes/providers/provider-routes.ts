import { isInstance } from "../../../../core/describe-error.ts";
import type { Router } from "../../../../http/routing/router.ts";
import type { HttpContext } from "../../../../kernel/context/http-context.ts";
import type { PorticoResponse, TypedResponse } from "../../../../kernel/context/portico-response.ts";
import { HttpException } from "../../../../kernel/exceptions/http-exception.ts";
import { SecondFactorRequired } from "../../../../kernel/exceptions/second-factor-required.ts";
import type { IdentityProvider, ProviderAccount } from "../../../providers/identity-provider.ts";
import { type SignInAttempt, SignInAttempts } from "../../../providers/sign-in-attempts.ts";
import type { Accounts } from "../../ownership/accounts.ts";
import { credentialGate } from "../../ownership/credential-gate.ts";
import { checkDomain, providerUser } from "../../ownership/provider-user.ts";
import { describeOpen, TOO_MANY } from "../../schemas/describe.ts";
import { records, requestQuery } from "../../schemas/record-schema.ts";
import { beginProviderSignIn, NO_PROVIDER, providerNamed, UNAVAILABLE } from "./begin-provider-sign-in.ts";
import { providerLinkRoutes } from "./provider-link-routes.ts";
import { providerLogoutRoute } from "./provider-logout-route.ts";
import { readReturnTo, withError } from "./read-return-to.ts";

const Providers = records({ name: "string" }, "AccountProvider");

/** The routes to sign in with identity providers. Without providers there are none. */
export function providerRoutes(router: Router, accounts: Accounts): void {
  if (accounts.options.providers.length === 0) return;
  listRoute(router, accounts);
  providerLinkRoutes(router, accounts);
  startRoute(router, accounts);
  callbackRoute(router, accounts);
  providerLogoutRoute(router, accounts);
}

/** `GET /providers`: lists the providers, or those responsible for an email address. */
function listRoute(router: Router, { options }: Accounts): void {
  router.get(
    "/providers",
    {
      ...describeOpen("accountListProviders", "List the identity providers"),
      description: "With `email`, only the providers that are responsible for the domain of the address.",
      query: requestQuery({ email: "string?" }),
      response: { 200: Providers },
    },
    ({ query: { email }, response }) => {
      const found = options.providers.filter((provider) => email === undefined || provider.isResponsibleFor(email));
      return response.json(found.map(({ name }) => ({ name })));
    },
  );
}

/** `GET /providers/:name`: redirects the browser to the provider. */
function startRoute(router: Router, accounts: Accounts): void {
  router.get(
    "/providers/:name",
    {
      ...describeOpen("accountSignInWithProvider", "Sign in with an identity provider", {
        400: "`return_to` is not a local path (`return_to_invalid`)",
        404: NO_PROVIDER,
        429: TOO_MANY,
        503: UNAVAILABLE,
      }),
      description: "Open it in the browser. It redirects to the provider, which redirects to the callback.",
      query: requestQuery({ return_to: "string?", remember: "flag?" }),
      response: { 303: null },
    },
    async ({ ctx, path, query, response }) => {
      const provider = providerNamed(accounts, path.name);
      const returnTo = readReturnTo(query.return_to);
      const remember = query.remember === "true";
      const url = await beginProviderSignIn(ctx, accounts, provider, {
        provider: provider.name,
        returnTo,
        remember,
        linkTo: null,
      });
      return seeOther(response, url.href);
    },
  );
}

/** `GET /providers/:name/callback`: the provider sends the browser here. */
function callbackRoute(router: Router, accounts: Accounts): void {
  router.get(
    "/providers/:name/callback",
    {
      ...describeOpen("accountProviderCallback", "Continue after a sign-in at an identity provider", {
        404: NO_PROVIDER,
      }),
      description:
        "Providers redirect the browser here. It continues at `return_to`. After an error, it continues at the sign-in page " +
        "or, if a provider was to be linked, at `return_to`, with `error` and a code in the query.",
      query: requestQuery({ state: "string?", code: "string?", iss: "string?", error: "string?" }),
      response: { 303: null },
    },
    async ({ ctx, path, query, response }) => {
      const provider = providerNamed(accounts, path.name);
      let attempt: SignInAttempt | undefined;
      try {
        const redeemed = await new SignInAttempts(accounts.store(ctx)).redeem(ctx, provider.name, query.state);
        attempt = redeemed;
        const callback = new URL(redeemed.secrets.redirectUri);
        for (const [name, value] of Object.entries(query)) callback.searchParams.set(name, value);
        const account = await provider.accountOf(ctx.services, callback, redeemed.secrets);
        checkDomain(provider, account);
        await (attempt.linkTo === null
          ? signIn(ctx, accounts, provider, account, attempt.remember)
          : link(ctx, accounts, provider, account, attempt.linkTo));
        return seeOther(response, attempt.returnTo);
      } catch (error) {
        if (!isInstance(error, HttpException)) throw error;
        // A user who still needs the second factor has not failed.
        if (error.code !== "SECOND_FACTOR_REQUIRED")
          accounts.report(ctx, "provider_sign_in_failed", attempt?.linkTo ?? null);
        const members = isInstance(error, SecondFactorRequired)
          ? { ...error.members, return_to: attempt?.returnTo }
          : {};
        const page = attempt?.linkTo ? attempt.returnTo : accounts.urlOf(ctx, accounts.options.signInPage);
        return seeOther(response, withError(page, error.code, members));
      }
    },
  );
}

async function signIn(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  account: ProviderAccount,
  remember: boolean,
): Promise<void> {
  const { user, proves } = await providerUser(ctx, accounts, provider, account);
  accounts.report(ctx, "login_succeeded", user.identity);
  const { issuer, subject, sid } = account;
  await accounts.signIns.startSession(ctx, user, { remember, via: { issuer, subject, sid }, ...proves });
}

async function link(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  account: ProviderAccount,
  user: string,
): Promise<void> {
  if (ctx.scope.auth !== "session" || ctx.user.identity !== user)
    throw new HttpException(401, "Sign in again, then link the provider", { code: "UNAUTHENTICATED" });
  await accounts.link(ctx, await credentialGate(ctx, accounts, "accountProviderCallback"), provider, account);
}

function seeOther(response: PorticoResponse, url: string): TypedResponse<null, 303> {
  return response.redirect(url) as TypedResponse<null, 303>;
}
