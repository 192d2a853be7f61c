import { randomBytes } from "node:crypto";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { removeFactors } from "../../factors/remove-factors.ts";
import type { ProviderAccount } from "../../providers/identity-provider.ts";
import type { TokenPair } from "../../tokens/token-for-user.ts";
import type { AccountHolder } from "../account-base.ts";
import { claimUsername } from "../claim-username.ts";
import { InvalidLink } from "../invalid-link.ts";
import { runEach } from "../run-each.ts";
import type { Accounts } from "./accounts.ts";
import type { AddressProof } from "./address-proof.ts";

/** The values that a proof sets, and the link that it keeps in addition. */
interface Outcome {
  /** The new password of a reset. It ends every sign-in, whether or not the proof is the first. */
  readonly password?: string;
  /** The new address of an email change. */
  readonly email?: string;
  /** The account of the identity provider that the user signs in with. */
  readonly link?: Pick<ProviderAccount, "issuer" | "subject"> | null;
}

/** The user after a proof. */
interface Proved {
  readonly user: AccountHolder;
  /** The new tokens of a caller whose session goes on and who uses a token. */
  readonly tokens: TokenPair | null;
}

/**
 * Completes the proof of an address. Every proof goes through this step: a link, a code, a reset, a sign-in by email, a
 * change of address, and an identity provider.
 *
 * The first proof ends everything that someone else may have made before: sessions, tokens, known devices, API keys,
 * provider links, second factors and the password. A credential that was presented with it stays. Later proofs keep factors and links.
 */
export async function proveAddress(
  ctx: HttpContext,
  accounts: Accounts,
  proof: AddressProof,
  { password, email, link }: Outcome = {},
): Promise<Proved> {
  const { user, isFirst, keepsPassword, keepsFactors, keepsSession } = proof;
  const { objects, keys, links } = accounts.change(ctx, proof);
  const { identity } = user;
  const hasPassword = password !== undefined || keepsPassword;
  if (password !== undefined || (isFirst && !keepsPassword))
    await objects.setPassword(user, password ?? unknownPassword());
  else if (isFirst) await objects.renewCredentials(user);
  const store = accounts.store(ctx);
  const reload = (): Promise<AccountHolder | null> => objects.get({ id: identity });
  let tokens: TokenPair | null = null;
  const signOut = async (): Promise<void> => {
    if (keepsSession) tokens = await accounts.revocation.signOutElsewhere(ctx, identity, reload);
    else await accounts.revocation.signOutEverywhere(ctx, identity);
  };
  if (isFirst || password !== undefined)
    await runEach([
      signOut,
      () => keys.revokeAll(user),
      () => (isFirst ? links.endAll(identity, link ?? null, hasPassword) : links.passwordSet(identity)),
      async () => isFirst && !keepsFactors && (await removeFactors(store, identity)),
    ]);
  await accounts.revocation.revokeLinks(ctx, identity);
  const now = await reload();
  // The address may have changed in the meantime, and the proof is about the old one.
  if (now === null || now.email !== user.email) throw new InvalidLink();
  // Last: while it fails, nothing that was made before is trusted.
  if (email !== undefined) await objects.setEmail(now, email);
  else if (!now.isVerified) await objects.markVerified(now);
  await claimUsername(ctx, accounts, now);
  return { user: (await reload()) ?? now, tokens };
}

/** A password that no one knows. The user can set one with a reset. */
export function unknownPassword(): string {
  return randomBytes(32).toString("base64url");
}
