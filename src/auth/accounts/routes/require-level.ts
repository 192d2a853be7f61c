import type { HttpContext } from "../../../http/context/http-context.ts";
import { SecondFactorRequired } from "../../../http/exceptions/second-factor-required.ts";
import type { Accounts } from "../accounts.ts";

/** The errors of a route that requires a recent sign-in with two factors, for the OpenAPI document. */
export const STRONG_ERRORS = {
  403: "A second factor (`second_factor_required`) or a recent sign-in (`sign_in_again`) is required",
  404: "The user has no such second factor",
};

/** Requires a second factor of a user who has one: the password alone must not add another factor. */
export async function requireLevel(ctx: HttpContext, accounts: Accounts, user: string): Promise<void> {
  if (ctx.identity.credential?.level === "mfa") return;
  const methods = await accounts.factors.methods(accounts.store(ctx), user);
  if (methods.length > 0) throw new SecondFactorRequired();
}
