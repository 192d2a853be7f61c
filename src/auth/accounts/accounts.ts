import { isProduction } from "../../core/env.ts";
import { addressBucket } from "../../http/context/address-bucket.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import { revoked } from "../../http/identity/credential.ts";
import type { CurrentUser } from "../../http/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { type AttemptLimit, countAttempt, tryAttempt } from "../limits/attempt-limit.ts";
import { limitLogin } from "../limits/limit-login.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import { endFamilyOf, type RefreshOptions, revokeRefreshTokensOf } from "../tokens/rotate-refresh-token.ts";
import { TokenForUser, type TokenPair } from "../tokens/token-for-user.ts";
import type { AccountUser } from "../users/account-model.ts";
import { type AccountEventKind, report } from "./account-event.ts";
import type { ResolvedAccountOptions } from "./account-options.ts";
import { InvalidCredentials } from "./invalid-credentials.ts";
import type { Mail } from "./mailer.ts";
import { OneTimeTokens } from "./one-time-tokens.ts";
import { runEach } from "./run-each.ts";

/** A user with an account. */
export type AccountHolder = CurrentUser & AccountUser;

/** How long the link in a mail is worth something. */
const LINK_MS = 30 * 60_000;

/** What the account routes share: who signs in, what is told, what is sent, what ends with a password. */
export class Accounts {
  readonly options: ResolvedAccountOptions;
  readonly keys: APIKeys;

  constructor(options: ResolvedAccountOptions) {
    this.options = options;
    this.keys = options.keys ?? new APIKeys(options.store === undefined ? {} : { store: options.store });
  }

  /**
   * The user who has this address or name and this password. Throws one and the same 401 otherwise, 429 after too many
   * attempts. A user who still has to verify the address gets the link once more.
   */
  async signIn(ctx: HttpContext, identifier: string, password: string): Promise<AccountHolder> {
    const { userModel, verifyEmail } = this.options;
    const user = await limitLogin(identifier, async () => {
      const found = await userModel.objects.authenticate(identifier, password);
      if (found === null || !verifyEmail || found.isVerified) return found;
      this.mailVerification(ctx, async () => found);
      return null;
    });
    if (user === null) {
      this.report(ctx, "login_failed", null);
      throw new InvalidCredentials(verifyEmail);
    }
    this.report(ctx, "login_succeeded", user.identity);
    return user;
  }

  /** Counts an attempt by the address that it comes from. */
  limitAddress(ctx: HttpContext, name: string, limit: AttemptLimit): Promise<void> {
    return countAttempt(ctx, [{ name, whose: addressBucket(ctx.request.ip), ...limit }]);
  }

  /** Three mails of a kind in an hour: whoever asks for more gets the same answer, and no mail. */
  async mayBeMailed(ctx: HttpContext, name: string, user: string): Promise<boolean> {
    return (await tryAttempt(ctx, { name, whose: user, limit: 3, windowSeconds: 3_600 })) === null;
  }

  tokenOptions(ctx: HttpContext): RefreshOptions {
    const { secret, audience, issuer, strictRefresh } = this.options;
    return {
      secret,
      audience,
      strictRefresh,
      ...(issuer === undefined ? {} : { issuer }),
      refreshStore: this.store(ctx),
      clock: ctx.services.clock,
      onReuse: async ({ identity, sid }) => {
        this.report(ctx, "token_reused", identity);
        // Its access tokens, and their sockets, end with it.
        if (sid !== undefined) await sessionsOf(ctx)?.endOneOf(identity, sid);
      },
    };
  }

  /** New tokens for somebody who has just proved who they are. They belong to a session, so that the device is listed. */
  async tokensFor(ctx: HttpContext, user: CurrentUser): Promise<TokenPair> {
    const sid = await sessionsOf(ctx)?.begin(user);
    return new TokenForUser(user, { ...this.tokenOptions(ctx), ...(sid === undefined ? {} : { sid }) }).tokenPair();
  }

  /** Ends what a refresh token belongs to: its family, and the session with its access tokens and sockets. */
  async signOutDevice(ctx: HttpContext, refreshToken: string): Promise<void> {
    const owner = await endFamilyOf(refreshToken, this.tokenOptions(ctx));
    if (owner?.sid !== undefined) await sessionsOf(ctx)?.endOneOf(owner.identity, owner.sid);
  }

  resetTokens(ctx: HttpContext): OneTimeTokens {
    return new OneTimeTokens(this.store(ctx), "password-reset", LINK_MS);
  }

  verifyTokens(ctx: HttpContext): OneTimeTokens {
    return new OneTimeTokens(this.store(ctx), "email-verification", LINK_MS);
  }

  emailTokens(ctx: HttpContext): OneTimeTokens {
    return new OneTimeTokens(this.store(ctx), "email-change", LINK_MS);
  }

  store(ctx: HttpContext): KeyValueStore {
    return this.options.store ?? ctx.services.stores.durable;
  }

  report(ctx: HttpContext, kind: AccountEventKind, user: string | null): void {
    report(ctx, this.options.onEvent, kind, user);
  }

  /** Sends the mail that `write` returns, after the response. */
  mailLater(ctx: HttpContext, write: () => Promise<Mail | null>): void {
    this.later(ctx, "a mail could not be sent", async () => {
      const mail = await write();
      if (mail !== null) await this.options.mailer(mail);
    });
  }

  /** Sends the link that verifies an address, after the response, unless the user has verified it or got three links in an hour. */
  mailVerification(ctx: HttpContext, find: () => Promise<AccountHolder | null>): void {
    this.mailLater(ctx, async () => {
      const user = await find();
      if (user === null || user.isVerified || !(await this.mayBeMailed(ctx, "verify-mails", user.identity)))
        return null;
      const token = await this.verifyTokens(ctx).issue({ user: user.identity, about: user.email });
      return { to: user.email, kind: "verify", url: this.link(ctx, this.options.verifyPage, token) };
    });
  }

  /** Works after the response, whose time must not reveal whether there was anything to do. A failure is logged as such. */
  later(ctx: HttpContext, failure: string, work: () => Promise<void>): void {
    setImmediate(() => {
      work().catch((err: unknown) => ctx.log.error({ err }, failure));
    });
  }

  /** A link of ours, whatever host the request has named. */
  link(ctx: HttpContext, page: string, token: string): string {
    const { services } = ctx;
    const query = `?token=${token}`;
    if (!page.startsWith("/")) return page + query;
    if (services.publicUrl === null && isProduction()) throw new Error("a link in a mail needs the app's publicUrl");
    return (services.publicUrl ?? services.listensOn() ?? "") + page + query;
  }

  /** Ends whatever else signs this user in: sessions, refresh tokens, access tokens, open sockets; and links to new addresses. */
  async signOutEverywhere(ctx: HttpContext, user: string): Promise<void> {
    await runEach([
      async () => sessionsOf(ctx)?.endAllOf(user),
      () => revokeRefreshTokensOf(user, this.tokenOptions(ctx)),
      () => this.emailTokens(ctx).revoke(user),
      () => this.#publishEnd(ctx, user),
    ]);
  }

  async #publishEnd(ctx: HttpContext, user: string): Promise<void> {
    // Not with a transaction of the request, which may be rolled back: what was ended stays ended.
    try {
      await ctx.services.stores.bus.publish(revoked, { user });
    } catch (err) {
      // Open sockets find out when they are looked at again.
      ctx.log.warn({ err }, "the end of a user's credentials could not be told");
    }
  }
}

/** The sessions of the request; `null` where they are not of `SessionMiddleware`. */
function sessionsOf({ sessions }: HttpContext): RequestSessions | null {
  return sessions instanceof RequestSessions ? sessions : null;
}
