import type { HttpContext } from "../../kernel/context/http-context.ts";
import { type CountedAttempt, forgetAttempts } from "../limits/attempt-limit.ts";
import { attemptSecret, type SecretAttempt } from "../limits/secret-attempt.ts";
import type { AccountBase } from "./account-base.ts";

/**
 * Runs an attempt to prove the second factor of an account, and throws its error if it returns `null`. Throws 429 after
 * five attempts within fifteen minutes. The attempt is counted before it runs, so that concurrent attempts cannot exceed
 * the limit, and a success resets the count.
 */
export async function attemptSecondFactor<T>(
  ctx: HttpContext,
  accounts: AccountBase,
  user: string,
  { attempt, error }: { readonly attempt: (secret: SecretAttempt) => Promise<T | null>; readonly error: () => Error },
): Promise<T> {
  const counted: CountedAttempt = { name: "second-factor", whose: user, limit: 5, windowSeconds: 900 };
  const result = await attemptSecret(ctx, [counted], attempt);
  if (result === null) {
    accounts.report(ctx, "second_factor_failed", user);
    throw error();
  }
  await forgetAttempts(ctx, counted);
  return result;
}
