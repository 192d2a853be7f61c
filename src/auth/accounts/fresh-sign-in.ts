import type { HttpContext } from "../../http/context.ts";
import { HttpException } from "../../http/exceptions.ts";
import { isFresh } from "../use-auth.ts";
import { InvalidCredentials } from "./account-exceptions.ts";
import type { AccountHolder, Accounts } from "./accounts.ts";
import { limitLogin } from "./login-limits.ts";

/** A session that was left open somewhere is not enough for what lasts longer than it: sign in again, or send the password. */
export async function requireFreshSignIn(
  ctx: HttpContext,
  { options }: Accounts,
  { email }: AccountHolder,
  password: string | undefined,
): Promise<void> {
  if (isFresh(ctx.identity.credential, ctx.host.clock.now(), options.freshSeconds)) return;
  if (password === undefined)
    throw new HttpException(403, "Sign in again, or send the password", { code: "SIGN_IN_AGAIN" });
  const owner = await limitLogin(email, () => options.userModel.objects.authenticate(email, password));
  if (owner === null) throw new InvalidCredentials();
}
