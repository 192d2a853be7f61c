import { within } from "../../core/within.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../../http/context/http-exception.ts";
import { isCommonPassword } from "../passwords/is-common-password.ts";
import { readNewPassword } from "../passwords/password-attempt.ts";
import { refuseNameAsPassword } from "../passwords/refuse-name-as-password.ts";
import type { Accounts } from "./accounts.ts";

/** Says whether a password is among those that were stolen somewhere: by a service that is asked for a part of its hash alone. */
export type BreachCheck = (password: string) => Promise<boolean>;

/** Whose password it is to be. */
interface Owner {
  readonly email: string;
  readonly username: string;
}

/** A service that takes longer does not answer. */
const PATIENCE_MS = 5_000;

/**
 * Throws 422 for a password that cannot be one: too short or too long, the name of the user or of the application, one that
 * everybody tries first, one that was stolen elsewhere.
 */
export async function checkNewPassword(
  ctx: HttpContext,
  accounts: Accounts,
  password: string,
  { email, username }: Owner,
): Promise<void> {
  readNewPassword(password);
  refuseNameAsPassword(password, [email, username, ctx.services.title, accounts.options.audience]);
  if (await isCommonPassword(password))
    throw new HttpException(422, "The password is one of those that are tried first", { code: "PASSWORD_TOO_COMMON" });
  if (await isBreached(ctx, accounts, password))
    throw new HttpException(422, "The password is known from a breach", { code: "PASSWORD_BREACHED" });
}

async function isBreached(ctx: HttpContext, accounts: Accounts, password: string): Promise<boolean> {
  const { isBreached: ask, breachCheckFailure } = accounts.options;
  if (ask === undefined) return false;
  try {
    return (await within(PATIENCE_MS, Promise.resolve<unknown>(ask(password)))) === true;
  } catch (err) {
    // What the service said may hold what it was asked: the log gets its kind alone.
    ctx.log.error(
      { kind: err instanceof Error ? err.name : typeof err },
      "a password could not be checked for breaches",
    );
    accounts.report(ctx, "breach_check_failed", null);
    if (breachCheckFailure === "block")
      throw new ServiceUnavailable("The password cannot be checked now", { retryAfterSeconds: 5 });
    return false;
  }
}
