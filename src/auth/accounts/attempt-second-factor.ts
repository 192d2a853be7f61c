import type { HttpContext } from "../../http/context/http-context.ts";
import { type CountedAttempt, countAttempt, forgetAttempts } from "../limits/attempt-limit.ts";
import type { Accounts } from "./accounts.ts";

/**
 * Runs an attempt to prove the second factor of an account, and throws its error if it returns `null`. Throws 429 after
 * five attempts within fifteen minutes. The attempt is counted before it runs, so that concurrent attempts cannot exceed
 * the limit, and a success resets the count.
 */
export async function attemptSecondFactor<T>(
  ctx: HttpContext,
  accounts: Accounts,
  user: string,
  { attempt, error }: { readonly attempt: () => Promise<T | null>; readonly error: () => Error },
): Promise<T> {
  const counted: CountedAttempt = { name: "second-factor", whose: user, limit: 5, windowSeconds: 900 };
  await countAttempt(ctx, [counted]);
  const result = await attempt();
  if (result === null) {
    accounts.report(ctx, "second_factor_failed", user);
    throw error();
  }
  await forgetAttempts(ctx, counted);
  return result;
}
