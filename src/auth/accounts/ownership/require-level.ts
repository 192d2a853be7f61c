import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { SecondFactorRequired } from "../../../kernel/exceptions/second-factor-required.ts";
import type { AccountBase } from "../account-base.ts";

/** The errors of a route that requires a recent sign-in with two factors, for the OpenAPI document. */
export const STRONG_ERRORS = {
  403: "A second factor (`second_factor_required`) or a recent sign-in (`sign_in_again`) is required",
  404: "The user has no such second factor",
};

/** Requires a second factor of a user who has one: the password alone must not add another factor. */
export async function requireLevel(ctx: HttpContext, accounts: AccountBase, user: string): Promise<void> {
  if (ctx.identity.credential?.level === "mfa") return;
  const methods = await accounts.factors.methods(accounts.store(ctx), user);
  if (methods.length > 0) throw new SecondFactorRequired();
}
