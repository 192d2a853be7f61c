import { AsyncLocalStorage } from "node:async_hooks";
import { addressBucket } from "../../http/context/address-bucket.ts";
import { currentContext } from "../../http/context/current-context.ts";
import type { BaseContext } from "../../http/context/http-context.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { type CountedAttempt, countAttempt, forgetAttempts, tryAttempt } from "./attempt-limit.ts";

/** An attempt to sign in that is under way. */
interface LoginAttempt {
  readonly account: string;
  /** The counts that a success forgets. */
  readonly counted: CountedAttempt[];
}

/** Already counted, further out: the route, and `authenticate` inside it, are one attempt. */
const current = new AsyncLocalStorage<LoginAttempt>();

/**
 * Runs an attempt to sign in, unless there were too many: by address 20 in five minutes and 100 in an hour, by account and
 * address 5 in fifteen minutes, by account 50 in fifteen minutes. It is counted before it runs, so that of many at once no more
 * than the limit reach the password. Outside of a request there is nothing to count by.
 *
 * These limits count the identifier as it was sent. A user with several, such as an address and a name, has one budget once the
 * attempt calls `mayTry` with the identity that it found, or with `null`. On `false` it must do its usual work and deny: a 429 would
 * reveal which address belongs to which name.
 *
 * A success forgets the counts by account and address alone. Throws 429 with `Retry-After`.
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
export async function limitLogin<U>(
  identifier: string,
  attempt: (mayTry: (identity: string | null) => Promise<boolean>) => Promise<U | null>,
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
    { name: "login-account", whose: account, limit: 50, windowSeconds: 900 },
  ]);
  const login: LoginAttempt = { account, counted: [both] };
  const user = await current.run(login, () => attempt((identity) => mayTry(ctx, login, identity)));
  if (user !== null) for (const counted of login.counted) await forgetAttempts(ctx, counted);
  return user;
}

/** Forgets the attempts of a user from this address: they have proved who they are in another way. */
export function forgetLogins(ctx: BaseContext, identity: string): Promise<void> {
  return forgetAttempts(ctx, byUser(ctx, `user ${identity}`));
}

/** Counts for those who are not there as well, or the time would tell. */
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
