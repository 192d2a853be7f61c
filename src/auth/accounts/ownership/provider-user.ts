import { isInstance } from "../../../core/describe-error.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { Conflict, HttpException } from "../../../kernel/exceptions/http-exception.ts";
import type { IdentityProvider, ProviderAccount } from "../../providers/identity-provider.ts";
import { readEmail } from "../../users/account-name.ts";
import { canonicalName } from "../../users/canonical-name.ts";
import { UserExists } from "../../users/user-exists.ts";
import type { AccountHolder } from "../account-base.ts";
import type { Accounts } from "./accounts.ts";
import { admitProof } from "./address-proof.ts";
import { proveAddress, unknownPassword } from "./prove-address.ts";

/**
 * Returns the user who signs in with an account of a provider: the user it is linked to, or a new user. An existing
 * user with the same email address is not signed in unless the provider has `linkVerifiedEmail`: the person who
 * controls the address at the provider may not be the person who registered it here.
 */
export async function providerUser(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  account: ProviderAccount,
): Promise<ProviderSignIn> {
  const user = (await linkedUser(ctx, accounts, account)) ?? (await newcomer(ctx, accounts, provider, account));
  const { email = "", isEmailVerified } = account;
  // An address that the provider has verified is verified here too, if it is the same.
  if (isEmailVerified && canonicalName(email) === canonicalName(user.email))
    return { user, proves: { proves: user.email } };
  if (!accounts.options.verifyEmail || user.isVerified) return { user, proves: {} };
  accounts.mail.sendVerification(ctx, async () => user);
  throw refused("EMAIL_NOT_VERIFIED", "Verify your email address first. A link was sent to it.");
}

/** The user who signs in, and the address of the user if the provider proves it. */
interface ProviderSignIn {
  readonly user: AccountHolder;
  readonly proves: { readonly proves?: string };
}

/** Throws 403 for an account outside the domains that a provider is restricted to. */
export function checkDomain(provider: IdentityProvider, { email = "", isEmailVerified }: ProviderAccount): void {
  if (provider.rules.domainsOnly && !(isEmailVerified && provider.isResponsibleFor(email)))
    throw refused("PROVIDER_EMAIL_REFUSED", "Accounts with this email address cannot sign in with this provider");
}

async function linkedUser(
  ctx: HttpContext,
  accounts: Accounts,
  account: ProviderAccount,
): Promise<AccountHolder | null> {
  const links = accounts.links(ctx);
  const owner = await links.ownerOf(account);
  if (owner === null) return null;
  const user = await enabled(accounts, owner);
  // The user was deleted.
  if (user === null) await links.forget(owner, account);
  return user;
}

async function newcomer(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  account: ProviderAccount,
): Promise<AccountHolder> {
  const { objects } = accounts.options.userModel;
  const email = verifiedEmail(account);
  const known = await objects.get({ email });
  if (known !== null) return linkKnown(ctx, accounts, provider, account, known);
  if (!provider.rules.signUp)
    throw refused("SIGN_UP_DISABLED", "No user is linked to this account, and this provider registers no users");
  try {
    // An unknown password, which the user can replace with a password reset.
    const created = await objects.createUser({ email, username: email, password: unknownPassword() });
    accounts.report(ctx, "registered", created.identity);
    const proof = await admitProof(ctx, accounts, created, {});
    const { user } = await proveAddress(ctx, accounts, proof);
    await accounts.link(ctx, proof, provider, account, true);
    return user;
  } catch (error) {
    throw isInstance(error, UserExists) ? linkRequired() : error;
  }
}

async function linkKnown(
  ctx: HttpContext,
  accounts: Accounts,
  provider: IdentityProvider,
  account: ProviderAccount,
  { identity, isVerified }: AccountHolder,
): Promise<AccountHolder> {
  // Someone else may have registered an address that is not verified, and would know the password.
  if (!provider.rules.linkVerifiedEmail || !isVerified) throw linkRequired();
  const user = await enabled(accounts, identity);
  if (user === null) throw linkRequired();
  await accounts.link(ctx, await admitProof(ctx, accounts, user, {}), provider, account);
  return user;
}

/** Returns the user, or `null` if there is none. Throws 403 if the user is disabled. */
async function enabled({ options }: Accounts, identity: string): Promise<AccountHolder | null> {
  const user = await options.userModel.loadUser(identity);
  if (user === null && (await options.userModel.objects.get({ id: identity })) !== null)
    throw refused("ACCOUNT_DISABLED", "The account is disabled");
  return user;
}

function verifiedEmail({ email, isEmailVerified }: ProviderAccount): string {
  try {
    if (isEmailVerified) return readEmail(email).text;
  } catch {
    // The provider has sent text that is not an email address.
  }
  throw refused("PROVIDER_EMAIL_NOT_VERIFIED", "The provider has not verified an email address of this account");
}

function linkRequired(): Conflict {
  return new Conflict(
    "A user with this email address exists. Sign in another way, then link the provider to the account.",
    { code: "PROVIDER_LINK_REQUIRED" },
  );
}

function refused(code: string, message: string): HttpException {
  return new HttpException(403, message, { code });
}
