import type { RouteErrors } from "../../../http/routing/route.ts";
import { isFresh } from "../../../kernel/access/use-auth.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { HttpException } from "../../../kernel/exceptions/http-exception.ts";
import { limitLogin } from "../../limits/limit-login.ts";
import type { AccountBase, AccountHolder } from "../account-base.ts";
import { InvalidCredentials } from "../invalid-credentials.ts";

/** The errors of a route that requires a recent sign-in, for the OpenAPI document. */
export const FRESH_ERRORS: RouteErrors = {
  401: "The caller is not signed in, or the password is incorrect",
  403: "A recent sign-in is required: sign in again or send the password (`sign_in_again`). Or the caller lacks permission",
};

/** Requires a recent sign-in or the password: an unattended session must not create anything that outlives it. */
export async function requireFreshSignIn(
  ctx: HttpContext,
  { options }: AccountBase,
  { email, identity }: AccountHolder,
  password: string | undefined,
): Promise<void> {
  if (isFresh(ctx.identity.credential, ctx.services.clock.now(), options.freshSeconds)) return;
  if (password === undefined)
    throw new HttpException(403, "A recent sign-in is required. Sign in again or send the password.", {
      code: "SIGN_IN_AGAIN",
    });
  const owner = await limitLogin(email, () => options.userModel.objects.authenticate(email, password));
  // The body may arrive late, when the address already belongs to another user.
  if (owner?.identity !== identity) throw new InvalidCredentials();
}
