import { AsyncLocalStorage } from "node:async_hooks";
import { addressBucket } from "../../http/address-bucket.ts";
import { currentContext } from "../../http/current-context.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { type CountedAttempt, countAttempt, forgetAttempts } from "./attempt-limits.ts";

/** Already counted, further out: the route, and `authenticate` inside it, are one attempt. */
const counted = new AsyncLocalStorage<string>();

/**
 * Runs an attempt to sign in, unless there were too many: by address 20 in five minutes and 100 in an hour, by account and
 * address 5 in fifteen minutes, by account 50 in fifteen minutes. It is counted before it runs, so that of many at once no more
 * than the limit reach the password. Outside of a request there is nothing to count by.
 *
 * A success forgets the count by account and address alone. Throws 429 with `Retry-After`.
 *
 * @example
 * ```ts
 * import { limitLogin, type UserProtocol } from "portico/auth";
 *
 * declare function checkPassword(name: string, password: string): Promise<UserProtocol | null>;
 *
 * export const signIn = (name: string, password: string) => limitLogin(name, () => checkPassword(name, password));
 * ```
 */
export async function limitLogin<U>(identifier: string, attempt: () => Promise<U | null>): Promise<U | null> {
  const ctx = currentContext();
  const account = canonicalName(identifier);
  if (ctx === null || counted.getStore() === account) return attempt();
  const address = addressBucket(ctx.request.ip);
  const both: CountedAttempt = {
    name: "login-account-address",
    whose: `${account}\n${address}`,
    limit: 5,
    windowSeconds: 900,
  };
  await countAttempt(ctx, [
    { name: "login-address", whose: address, limit: 20, windowSeconds: 300 },
    { name: "login-address", whose: address, limit: 100, windowSeconds: 3_600 },
    both,
    { name: "login-account", whose: account, limit: 50, windowSeconds: 900 },
  ]);
  const user = await counted.run(account, attempt);
  if (user !== null) await forgetAttempts(ctx, both);
  return user;
}
