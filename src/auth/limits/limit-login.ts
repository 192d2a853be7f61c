import { AsyncLocalStorage } from "node:async_hooks";
import { addressBucket } from "../../http/context/address-bucket.ts";
import { currentContext } from "../../http/context/current-context.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { type CountedAttempt, countAttempt, forgetAttempts, tryAttempt } from "./attempt-limit.ts";

/** A sign-in attempt in progress. */
interface LoginAttempt {
  readonly account: string;
  /** The counts that a successful sign-in resets. */
  readonly counted: CountedAttempt[];
}

type Attempt<U> = (mayTry: (identity: string | null) => Promise<boolean>) => Promise<U | null>;

/** The attempt that an outer call has counted: a route and the `authenticate` call inside it are one attempt. */
const current = new AsyncLocalStorage<LoginAttempt>();

/**
 * Runs a sign-in attempt unless there were too many: 20 in five minutes and 100 in an hour per IP address, 5 in fifteen
 * minutes per account and IP address, and 50 in fifteen minutes per account. The attempt is counted before it runs, so
 * that concurrent attempts cannot exceed the limit. Outside a request nothing is counted.
 *
 * These limits count the identifier as it was sent. To give a user with several identifiers, such as an email address
 * and a username, a single budget, call `mayTry` with the identity that was found, or with `null`. If it returns
 * `false`, do the usual work and deny: a 429 would reveal which address belongs to which username.
 *
 * A successful sign-in resets only the counts per account and IP address. Throws 429 with `Retry-After`.
 *
 * @example
 * ```ts
 * import { limitLogin, PasswordHasher, type UserProtocol } from "portico/auth";
 *
 * declare function findUser(name: string): Promise<{ user: UserProtocol; hash: string } | null>;
 * const passwords = new PasswordHasher();
 *
 * export const signIn = (name: string, password: string) =>
 *   limitLogin(name, async (mayTry) => {
 *     const found = await findUser(name);
 *     const isAllowed = await mayTry(found?.user.identity ?? null);
 *     const { isRight } = await passwords.verify(password, isAllowed ? (found?.hash ?? null) : null);
 *     return isRight && found !== null ? found.user : null;
 *   });
 * ```
 */
export async function limitLogin<U>(identifier: string, attempt: Attempt<U>): Promise<U | null> {
  return limitLoginOn(null, identifier, attempt);
}

/**
 * Does the same for a browser on which the user has signed in before. It has its own budget of 10 attempts in fifteen
 * minutes in place of the account's, so that strangers cannot lock the owner out.
 */
export async function limitLoginOn<U>(
  browser: string | null,
  identifier: string,
  attempt: Attempt<U>,
): Promise<U | null> {
  const ctx = currentContext();
  if (ctx === null) return attempt(async () => true);
  const account = canonicalName(identifier);
  const outer = current.getStore();
  if (outer?.account === account) return attempt((identity) => mayTry(ctx, outer, identity));
  const address = addressBucket(ctx.request.ip);
  const both = byBoth("login-account-address", account, address);
  await countAttempt(ctx, [
    { name: "login-address", whose: address, limit: 20, windowSeconds: 300 },
    { name: "login-address", whose: address, limit: 100, windowSeconds: 3_600 },
    both,
    browser === null
      ? { name: "login-account", whose: account, limit: 50, windowSeconds: 900 }
      : { name: "login-device", whose: `${account}\n${browser}`, limit: 10, windowSeconds: 900 },
  ]);
  const login: LoginAttempt = { account, counted: [both] };
  const user = await current.run(login, () => attempt((identity) => mayTry(ctx, login, identity)));
  if (user !== null) for (const counted of login.counted) await forgetAttempts(ctx, counted);
  return user;
}

/** Resets the attempts of a user from this IP address, after the user has proved their identity in another way. */
export function forgetLogins(ctx: BaseContext, identity: string): Promise<void> {
  return forgetAttempts(ctx, byUser(ctx, `user ${identity}`));
}

/** Counts unknown users too, because the timing would otherwise reveal which users exist. */
async function mayTry(ctx: BaseContext, { account, counted }: LoginAttempt, identity: string | null): Promise<boolean> {
  const attempt = byUser(ctx, identity === null ? `name ${account}` : `user ${identity}`);
  counted.push(attempt);
  return (await tryAttempt(ctx, attempt)) === null;
}

function byUser(ctx: BaseContext, who: string): CountedAttempt {
  return byBoth("login-user-address", who, addressBucket(ctx.request.ip));
}

function byBoth(name: string, who: string, address: string): CountedAttempt {
  return { name, whose: `${who}\n${address}`, limit: 5, windowSeconds: 900 };
}
