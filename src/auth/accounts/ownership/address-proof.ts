import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { SecondFactorRequired } from "../../../kernel/exceptions/second-factor-required.ts";
import type { AssuranceLevel } from "../../../kernel/identity/credential.ts";
import { limitLogin } from "../../limits/limit-login.ts";
import type { AccountBase, AccountHolder } from "../account-base.ts";
import { attemptSecondFactor } from "../attempt-second-factor.ts";
import { InvalidCredentials } from "../invalid-credentials.ts";
import { InvalidSecondFactor } from "../invalid-second-factor.ts";
import { isProved } from "./is-proved.ts";

/** The credentials that a person presents together with the proof of an address, and keeps by that. */
export interface Presented {
  /** The password of the account. */
  readonly password?: string | undefined;
  /** A code of the authenticator app, or a recovery code. */
  readonly code?: string | undefined;
  /** Whether the session of the request is presented. */
  readonly isWithSession?: boolean;
  /** How strongly the user has signed in during this request. */
  readonly level?: AssuranceLevel | undefined;
}

/** A proof of an address that may be completed, for `proveAddress`. Only `admitProof` makes one. */
class AddressProof {
  readonly user: AccountHolder;
  /** Whether the account had no owner until now, so that others may have made its credentials. */
  readonly isFirst: boolean;
  readonly keepsPassword: boolean;
  readonly keepsFactors: boolean;
  /** Whether the session of the request is presented, and goes on. */
  readonly keepsSession: boolean;

  constructor(
    user: AccountHolder,
    kept: Pick<AddressProof, "isFirst" | "keepsPassword" | "keepsFactors" | "keepsSession">,
  ) {
    this.user = user;
    this.isFirst = kept.isFirst;
    this.keepsPassword = kept.keepsPassword;
    this.keepsFactors = kept.keepsFactors;
    this.keepsSession = kept.keepsSession;
  }
}

export type { AddressProof };

/**
 * Admits the proof of an address, before its token is redeemed. The first proof of an account with a second factor
 * requires that factor: throws 403 without it, 401 for a wrong code or password, and 429 after too many attempts.
 */
export async function admitProof(
  ctx: HttpContext,
  accounts: AccountBase,
  user: AccountHolder,
  presented: Presented,
): Promise<AddressProof> {
  if (isProved(user))
    return new AddressProof(user, { isFirst: false, keepsPassword: true, keepsFactors: true, keepsSession: false });
  const keepsSession = presented.isWithSession === true && isOwnSession(ctx, user);
  const keepsFactors = await requireFactor(ctx, accounts, user, {
    ...presented,
    level: presented.level ?? (keepsSession ? ctx.identity.credential?.level : undefined),
  });
  const { password } = presented;
  if (password !== undefined) await requirePassword(accounts, user, password);
  return new AddressProof(user, {
    isFirst: true,
    keepsPassword: keepsSession || password !== undefined,
    keepsFactors,
    keepsSession,
  });
}

function isOwnSession(ctx: HttpContext, { identity }: AccountHolder): boolean {
  const { auth } = ctx.scope;
  return (auth === "session" || auth === "jwt") && ctx.user.identity === identity;
}

/** Returns whether the user has a second factor, which is then proved. */
async function requireFactor(
  ctx: HttpContext,
  accounts: AccountBase,
  { identity }: AccountHolder,
  { code, level }: Presented,
): Promise<boolean> {
  const store = accounts.store(ctx);
  const methods = await accounts.factors.methods(store, identity);
  if (methods.length === 0) return false;
  if (level === "mfa") return true;
  if (code === undefined) throw new SecondFactorRequired();
  await attemptSecondFactor(ctx, accounts, identity, {
    attempt: (secret) => accounts.factors.verify(secret, store, identity, { code, now: ctx.services.clock.now() }),
    error: () => new InvalidSecondFactor(),
  });
  return true;
}

async function requirePassword(
  { options }: AccountBase,
  { email, identity }: AccountHolder,
  password: string,
): Promise<void> {
  const owner = await limitLogin(email, () => options.userModel.objects.authenticate(email, password));
  if (owner?.identity !== identity) throw new InvalidCredentials();
}
