import { AsyncLocalStorage } from "node:async_hooks";
import { currentContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { type AttemptLimit, type CountedAttempt, forgetAttempts, reserveAttempt } from "./attempt-limit.ts";
import { attemptSecret, type SecretAttempt } from "./secret-attempt.ts";

/** A sign-in attempt in progress. */
interface LoginAttempt {
  readonly account: string;
  /** The browser on which the user has signed in before. */
  readonly browser: string | null;
  readonly secret: SecretAttempt;
  /** The counts that a successful sign-in resets. */
  readonly counted: CountedAttempt[];
  /** Whether `mayTry` is called before the password is compared. */
  saysWhenItCompares: boolean;
}

type Attempt<U> = (mayTry: (identity: string | null) => Promise<boolean>) => Promise<U | null>;

/** The attempt that an outer call has counted: a route and the `authenticate` call inside it are one attempt. */
const current = new AsyncLocalStorage<LoginAttempt>();

/**
 * Runs a sign-in attempt unless there were too many: 20 in five minutes and 100 in an hour per IP address, 5 in fifteen
 * minutes per account and IP address, and 50 in fifteen minutes per account. The attempt is counted before it runs, so
 * that concurrent attempts cannot exceed the limit. Outside a request nothing is counted.
 *
 * Call `mayTry` with the identity of the user that was found, or with `null`, before you compare the password: the limits
 * of the account then apply to the user, over an email address and a username together. If it returns `false`, do the usual
 * work and deny: a 429 would reveal which address belongs to which username. Without the call, the limits count the
 * identifier as it was sent.
 *
 * A successful sign-in resets only the counts per account and IP address. An attempt that an outage ends before the call of
 * `mayTry` is not counted. Throws 429 with `Retry-After`.
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
  if (outer?.account === account) return run(ctx, outer, attempt);
  const address = addressBucket(ctx.request.ip);
  const both = byBoth("login-account-address", account, address);
  const limits: readonly CountedAttempt[] = [
    { name: "login-address", whose: address, limit: 20, windowSeconds: 300 },
    { name: "login-address", whose: address, limit: 100, windowSeconds: 3_600 },
    ...(browser === null
      ? [both, { name: "login-account", whose: account, ...PER_ACCOUNT }]
      : [{ name: "login-device", whose: `${account}\n${browser}`, ...PER_DEVICE }]),
  ];
  return attemptSecret(ctx, limits, async (secret) => {
    const login: LoginAttempt = {
      account,
      browser,
      secret,
      counted: browser === null ? [both] : [],
      saysWhenItCompares: false,
    };
    const user = await current.run(login, () => run(ctx, login, attempt));
    if (user !== null) for (const counted of login.counted) await forgetAttempts(ctx, counted);
    return user;
  });
}

/** An attempt that takes `mayTry` calls it before it compares. Of any other, that is not known. */
async function run<U>(ctx: BaseContext, login: LoginAttempt, attempt: Attempt<U>): Promise<U | null> {
  login.saysWhenItCompares ||= attempt.length > 0;
  try {
    return await attempt((identity) => mayTry(ctx, login, identity));
  } catch (error) {
    if (!login.saysWhenItCompares) login.secret.compares();
    throw error;
  }
}

/** Resets the attempts of a user from this IP address, after the user has proved their identity in another way. */
export function forgetLogins(ctx: BaseContext, identity: string): Promise<void> {
  return forgetAttempts(ctx, byUser(ctx, `user ${identity}`));
}

/** Counts unknown users too, because the timing would otherwise reveal which users exist. */
async function mayTry(
  ctx: BaseContext,
  { account, browser, counted, secret }: LoginAttempt,
  identity: string | null,
): Promise<boolean> {
  const who = identity === null ? `name ${account}` : `user ${identity}`;
  const here = byUser(ctx, who);
  const limits: readonly CountedAttempt[] =
    browser === null
      ? [here, { name: "login-user", whose: who, ...PER_ACCOUNT }]
      : [{ name: "login-user-device", whose: `${who}\n${browser}`, ...PER_DEVICE }];
  counted.push(here);
  let isAllowed = true;
  for (const limit of limits) {
    const reservation = await reserveAttempt(ctx, limit);
    if (reservation.isGranted) secret.keep(reservation);
    else isAllowed = false;
  }
  secret.compares();
  return isAllowed;
}

const PER_ACCOUNT: AttemptLimit = { limit: 50, windowSeconds: 900 };
const PER_DEVICE: AttemptLimit = { limit: 10, windowSeconds: 900 };

function byUser(ctx: BaseContext, who: string): CountedAttempt {
  return byBoth("login-user-address", who, addressBucket(ctx.request.ip));
}

function byBoth(name: string, who: string, address: string): CountedAttempt {
  return { name, whose: `${who}\n${address}`, limit: 5, windowSeconds: 900 };
}
