import { isInstance } from "../../../core/describe-error.ts";
import { withTimeout } from "../../../core/work/with-timeout.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { HttpException, ServiceUnavailable } from "../../../kernel/exceptions/http-exception.ts";
import { refuseWeakPassword } from "../../passwords/refuse-weak-password.ts";
import type { Accounts } from "./accounts.ts";

interface Owner {
  readonly email: string;
  readonly username: string;
}

/** A breach check that takes longer has failed. */
const TIMEOUT_MS = 5_000;

/**
 * Throws 422 for a password that is too short, too long, too common or known from a breach, or that is the name of the
 * user or of the application.
 */
export async function checkNewPassword(
  ctx: HttpContext,
  accounts: Accounts,
  password: string,
  { email, username }: Owner,
): Promise<void> {
  await refuseWeakPassword(password, [email, username, ctx.services.title, accounts.options.audience]);
  if (await isBreached(ctx, accounts, password))
    throw new HttpException(422, "This password has appeared in a data breach. Choose another one.", {
      code: "PASSWORD_BREACHED",
    });
}

async function isBreached(ctx: HttpContext, accounts: Accounts, password: string): Promise<boolean> {
  const { isBreached: ask, breachCheckFailure } = accounts.options;
  if (ask === undefined) return false;
  try {
    return (await withTimeout(TIMEOUT_MS, Promise.resolve<unknown>(ask(password)))) === true;
  } catch (err) {
    // The error may quote the password, so only its kind is logged.
    ctx.log.error({ kind: isInstance(err, Error) ? err.name : typeof err }, "failed to check a password for breaches");
    accounts.report(ctx, "breach_check_failed", null);
    if (breachCheckFailure === "block")
      throw new ServiceUnavailable("The password could not be checked for breaches. Try again later.", {
        retryAfterSeconds: 5,
      });
    return false;
  }
}
