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

/** How long the link in an email is valid. */
const LINK_MS = 30 * 60_000;

/** The work that the account routes share: signing in, reporting events, sending emails and revoking credentials. */
export class Accounts {
  readonly options: ResolvedAccountOptions;
  readonly keys: APIKeys;

  constructor(options: ResolvedAccountOptions) {
    this.options = options;
    this.keys = options.keys ?? new APIKeys(options.store === undefined ? {} : { store: options.store });
  }

  /**
   * Returns the user with this email address or username and this password. Throws the same 401 in every other case,
   * and 429 after too many attempts. A user who has not verified the email address yet is sent another link.
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

  /** Counts an attempt against the limit of the client's IP address. */
  limitAddress(ctx: HttpContext, name: string, limit: AttemptLimit): Promise<void> {
    return countAttempt(ctx, [{ name, whose: addressBucket(ctx.request.ip), ...limit }]);
  }

  /** Allows three emails of a kind per hour. Beyond that, the response is the same but no email is sent. */
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
        // Ending the session also ends its access tokens and sockets.
        if (sid !== undefined) await sessionsOf(ctx)?.endOneOf(identity, sid);
      },
    };
  }

  /** Creates tokens for a user who has just signed in. They belong to a session, so that the device is listed. */
  async tokensFor(ctx: HttpContext, user: CurrentUser): Promise<TokenPair> {
    const sid = await sessionsOf(ctx)?.begin(user);
    return new TokenForUser(user, { ...this.tokenOptions(ctx), ...(sid === undefined ? {} : { sid }) }).tokenPair();
  }

  /** Revokes the family of a refresh token, and ends its session with the access tokens and sockets. */
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

  /** Sends the email that `write` returns, after the response. */
  mailLater(ctx: HttpContext, write: () => Promise<Mail | null>): void {
    this.later(ctx, "failed to send an email", async () => {
      const mail = await write();
      if (mail !== null) await this.options.mailer(mail);
    });
  }

  /**
   * Sends a verification link after the response, unless the address is verified or the user got three links within an
   * hour.
   */
  mailVerification(ctx: HttpContext, find: () => Promise<AccountHolder | null>): void {
    this.mailLater(ctx, async () => {
      const user = await find();
      if (user === null || user.isVerified || !(await this.mayBeMailed(ctx, "verify-mails", user.identity)))
        return null;
      const token = await this.verifyTokens(ctx).issue({ user: user.identity, about: user.email });
      return { to: user.email, kind: "verify", url: this.link(ctx, this.options.verifyPage, token) };
    });
  }

  /** Runs `work` after the response, whose timing must not reveal whether there was anything to do. Logs a failure. */
  later(ctx: HttpContext, failure: string, work: () => Promise<void>): void {
    setImmediate(() => {
      work().catch((err: unknown) => ctx.log.error({ err }, failure));
    });
  }

  /** Builds a link from the app's own URL, never from the `Host` header of the request. */
  link(ctx: HttpContext, page: string, token: string): string {
    const { services } = ctx;
    const query = `?token=${token}`;
    if (!page.startsWith("/")) return page + query;
    if (services.publicUrl === null && isProduction())
      throw new Error("links in emails require the app's publicUrl option in production");
    return (services.publicUrl ?? services.listensOn() ?? "") + page + query;
  }

  /**
   * Revokes the user's sessions, refresh tokens and access tokens, closes open sockets, and cancels a pending email
   * change.
   */
  async signOutEverywhere(ctx: HttpContext, user: string): Promise<void> {
    await runEach([
      async () => sessionsOf(ctx)?.endAllOf(user),
      () => revokeRefreshTokensOf(user, this.tokenOptions(ctx)),
      () => this.emailTokens(ctx).revoke(user),
      () => this.#publishEnd(ctx, user),
    ]);
  }

  async #publishEnd(ctx: HttpContext, user: string): Promise<void> {
    // Published outside the request's transaction: a rollback does not undo the revocation.
    try {
      await ctx.services.stores.bus.publish(revoked, { user });
    } catch (err) {
      // Open sockets are closed when their credential is next rechecked.
      ctx.log.warn({ err }, "failed to publish a credential revocation for a user");
    }
  }
}

/** The sessions of the request, or `null` without `SessionMiddleware`. */
function sessionsOf({ sessions }: HttpContext): RequestSessions | null {
  return sessions instanceof RequestSessions ? sessions : null;
}
