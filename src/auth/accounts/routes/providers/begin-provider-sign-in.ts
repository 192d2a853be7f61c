import type { HttpContext } from "../../../../kernel/context/http-context.ts";
import { NotFound } from "../../../../kernel/exceptions/http-exception.ts";
import type { IdentityProvider } from "../../../providers/identity-provider.ts";
import { type SignInAttempt, SignInAttempts } from "../../../providers/sign-in-attempts.ts";
import type { Accounts } from "../../ownership/accounts.ts";

/** Error descriptions that the routes of providers share. */
export const NO_PROVIDER = "There is no identity provider with this name";
export const UNAVAILABLE =
  "The identity provider (`provider_unavailable`) or a store is unavailable. Try again after `Retry-After` seconds";

/** Begins a sign-in and returns the URL of the provider. */
export async function beginProviderSignIn(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  attempt: SignInAttempt,
): Promise<URL> {
  await accounts.limitAddress(ctx, "provider-address", { limit: 100, windowSeconds: 600 });
  const [path = ""] = ctx.exchange.target.split("?", 1);
  const accountPath = path.slice(0, path.lastIndexOf("/providers/"));
  const redirectUri = accounts.urlOf(ctx, `${accountPath}/providers/${provider.name}/callback`);
  const secrets = await new SignInAttempts(accounts.store(ctx)).begin(ctx, attempt, redirectUri);
  return provider.authorizationUrl(ctx.services, secrets);
}

/** Throws 404 if there is no such provider. */
export function providerNamed({ options }: Accounts, name: string): IdentityProvider {
  const provider = options.providers.find((entry) => entry.name === name);
  if (provider === undefined) throw new NotFound("Identity provider not found");
  return provider;
}
