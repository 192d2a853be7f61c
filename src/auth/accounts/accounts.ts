import { setImmediate as nextRound } from "node:timers/promises";
import { isProduction } from "../../core/env.ts";
import { addressBucket } from "../../http/context/address-bucket.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import { SecondFactorRequired } from "../../http/exceptions/second-factor-required.ts";
import { type AssuranceLevel, revoked } from "../../http/identity/credential.ts";
import type { CurrentUser } from "../../http/identity/identity.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { APIKeys } from "../api-keys/api-keys.ts";
import { Passkeys } from "../factors/passkeys.ts";
import { SecondFactors } from "../factors/second-factors.ts";
import { type AttemptLimit, countAttempt, tryAttempt } from "../limits/attempt-limit.ts";
import { limitLoginOn } from "../limits/limit-login.ts";
import type { IdentityProvider, ProviderAccount } from "../providers/identity-provider.ts";
import { ProviderLinks } from "../providers/provider-links.ts";
import { ProviderSessions } from "../providers/provider-sessions.ts";
import { deviceLabel } from "../sessions/device-label.ts";
import { RequestSessions, sessionNamedBy } from "../sessions/request-sessions.ts";
import type { Acting, SessionRecord } from "../sessions/session-record.ts";
import { endFamilyOf, type RefreshOptions, revokeRefreshTokensOf } from "../tokens/rotate-refresh-token.ts";
import { TokenForUser, type TokenPair } from "../tokens/token-for-user.ts";
import type { AccountUser } from "../users/account-model.ts";
import { type AccountEventKind, report } from "./account-event.ts";
import type { ResolvedAccountOptions } from "./account-options.ts";
import { InvalidCredentials } from "./invalid-credentials.ts";
import { KnownDevices } from "./known-devices.ts";
import type { Mail } from "./mailer.ts";
import { notifyOwner } from "./notify-owner.ts";
import { emailTokens, type OneTimeTokens, resetTokens, verifyTokens } from "./one-time-tokens.ts";
import { PendingSignIns, type SignInForm } from "./pending-sign-ins.ts";
import { requireHuman } from "./require-human.ts";
import { runEach } from "./run-each.ts";

/** A user with an account. */
export type AccountHolder = CurrentUser & AccountUser;

/** The work that the account routes share: signing in, reporting events, sending emails and revoking credentials. */
export class Accounts {
  readonly options: ResolvedAccountOptions;
  readonly keys: APIKeys;
  readonly factors: SecondFactors;
  /** `null` if the application has no passkeys. */
  readonly passkeys: Passkeys | null;

  constructor(options: ResolvedAccountOptions) {
    this.options = options;
    this.keys = options.keys ?? new APIKeys(options.store === undefined ? {} : { store: options.store });
    this.factors = new SecondFactors(options.secret, options.passkeys !== undefined);
    this.passkeys = options.passkeys === undefined ? null : new Passkeys(options.passkeys);
  }

  /**
   * Returns the user with this email address or username and this password. Throws the same 401 in every other case,
   * and 429 after too many attempts. A user who has not verified the email address yet is sent another link.
   */
  async signIn(ctx: HttpContext, identifier: string, password: string): Promise<AccountHolder> {
    const { userModel, verifyEmail, knownDevices } = this.options;
    await requireHuman(ctx, this);
    const browser = knownDevices ? await this.#devices(ctx).browserFor(ctx, identifier) : null;
    const user = await limitLoginOn(browser, identifier, async () => {
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

  /**
   * Starts a session with a cookie for a user who has just signed in, by whatever method. Throws 403
   * `SECOND_FACTOR_REQUIRED` if the user has a second factor, which completes the sign-in.
   */
  async startSession(ctx: HttpContext, user: CurrentUser, form: Omit<SignInForm, "kind">): Promise<void> {
    await this.#requireSecondFactor(ctx, user, { ...form, kind: "cookie" });
    await this.admit(ctx, user, { ...form, kind: "cookie" }, undefined);
  }

  /**
   * Creates tokens for a user who has just signed in. They belong to a session, so that the device is listed. Throws 403
   * `SECOND_FACTOR_REQUIRED` if the user has a second factor, which completes the sign-in.
   */
  async tokensFor(ctx: HttpContext, user: CurrentUser): Promise<TokenPair> {
    const form: SignInForm = { kind: "tokens", remember: false };
    await this.#requireSecondFactor(ctx, user, form);
    return (await this.admit(ctx, user, form, undefined)) as TokenPair;
  }

  /**
   * Starts a session at this level, in the form in which the caller signed in. Returns the tokens, or `null` if the
   * session has a cookie. Only for callers who have proved all of their factors.
   */
  async admit(
    ctx: HttpContext,
    user: CurrentUser,
    { kind, remember, via }: SignInForm,
    level: AssuranceLevel | undefined,
  ): Promise<TokenPair | null> {
    const options = level === undefined ? {} : { level };
    if (this.options.knownDevices) await this.#noteDevice(ctx, user as AccountHolder, kind);
    if (kind === "tokens") return this.#tokens(ctx, user, await sessionsOf(ctx)?.begin(user, options));
    await ctx.request.sessions.login(user, { ...options, remember });
    if (via !== undefined) await this.#noteProvider(ctx, user, via);
    return null;
  }

  /** Remembers the device, and tells the user about a new one. */
  async #noteDevice(ctx: HttpContext, user: AccountHolder, kind: SignInForm["kind"]): Promise<void> {
    if (!(await this.#devices(ctx).remember(ctx, user, kind))) return;
    this.report(ctx, "new_device", user.identity);
    const device = deviceLabel(ctx.request.headers["user-agent"]);
    this.mailLater(ctx, async () => ({ to: user.email, kind: "new_device", url: null, device }));
  }

  #devices(ctx: HttpContext): KnownDevices {
    return new KnownDevices(this.store(ctx));
  }

  /** Records that the new session was started with this account, so that the provider can end it. */
  async #noteProvider(
    ctx: HttpContext,
    { identity: user }: CurrentUser,
    via: NonNullable<SignInForm["via"]>,
  ): Promise<void> {
    const { credential } = ctx.identity;
    const handle = sessionNamedBy(credential);
    if (handle === null) return;
    const until = credential?.expiresAt ?? 0;
    await new ProviderSessions(this.store(ctx), ctx.services.clock).add(via, { user, handle, until });
  }

  /** Raises the caller's session after a second factor. Returns new tokens to a caller who uses a token. */
  async stepUp(ctx: HttpContext, user: CurrentUser): Promise<TokenPair | null> {
    const sid = await sessionsOf(ctx)?.raise(user, "mfa");
    return typeof sid === "string" ? this.#tokens(ctx, user, sid) : null;
  }

  #tokens(ctx: HttpContext, user: CurrentUser, sid: string | undefined): Promise<TokenPair> {
    return new TokenForUser(user, { ...this.tokenOptions(ctx), ...(sid === undefined ? {} : { sid }) }).tokenPair();
  }

  async #requireSecondFactor(ctx: HttpContext, user: CurrentUser, form: SignInForm): Promise<void> {
    if (this.options.except.includes("factors")) return;
    const methods = await this.factors.methods(this.store(ctx), user.identity);
    if (methods.length === 0) return;
    throw new SecondFactorRequired({ pending: await this.pendingSignIns(ctx).issue(user, form), methods });
  }

  pendingSignIns(ctx: HttpContext): PendingSignIns {
    return new PendingSignIns(this.store(ctx));
  }

  /** Revokes the family of a refresh token, and ends its session with the access tokens and sockets. */
  async signOutDevice(ctx: HttpContext, refreshToken: string): Promise<void> {
    const owner = await endFamilyOf(refreshToken, this.tokenOptions(ctx));
    if (owner?.sid !== undefined) await sessionsOf(ctx)?.endOneOf(owner.identity, owner.sid);
  }

  /** Ends one session of a user with its access tokens and sockets. */
  async endSession(ctx: HttpContext, user: string, handle: string): Promise<void> {
    await sessionsOf(ctx)?.endOneOf(user, handle);
  }

  /** Lets the caller's session act as another user, or as its own again. Returns its record as it was before. */
  async act(ctx: HttpContext, acting: Acting | null): Promise<SessionRecord | null> {
    return (await sessionsOf(ctx)?.act(acting)) ?? null;
  }

  links(ctx: HttpContext): ProviderLinks {
    return new ProviderLinks(this.store(ctx));
  }

  /** Links an account of a provider to a user, and reports it: to the owner too, unless the user is new. */
  async link(
    ctx: HttpContext,
    user: AccountHolder,
    { name }: IdentityProvider,
    account: ProviderAccount,
    isNew = false,
  ): Promise<void> {
    await this.links(ctx).add(user.identity, name, account, ctx.services.clock.now(), isNew);
    this.report(ctx, "provider_linked", user.identity);
    if (!isNew) notifyOwner(ctx, this, user, { kind: "provider_linked", provider: name });
  }

  resetTokens(ctx: HttpContext): OneTimeTokens {
    return resetTokens(this.store(ctx));
  }

  verifyTokens(ctx: HttpContext): OneTimeTokens {
    return verifyTokens(this.store(ctx));
  }

  emailTokens(ctx: HttpContext): OneTimeTokens {
    return emailTokens(this.store(ctx));
  }

  store(ctx: HttpContext): KeyValueStore {
    return this.options.store ?? ctx.services.stores.durable;
  }

  /** @param actor who caused the event, if that is not the caller */
  report(ctx: HttpContext, kind: AccountEventKind, user: string | null, actor?: string): void {
    report(ctx, this.options.onEvent, kind, user, actor);
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
      return { to: user.email, kind: "verify", url: this.pageLink(ctx, this.options.verifyPage, token) };
    });
  }

  /** Runs `work` after the response, whose timing must not reveal whether there was anything to do. Logs a failure. */
  later(ctx: HttpContext, failure: string, work: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      await nextRound();
      await work().catch((err: unknown) => ctx.log.error({ err }, failure));
    };
    ctx.services.laterWork.add(run());
  }

  /** Returns the URL of a page with a token as its query. */
  pageLink(ctx: HttpContext, page: string, token: string): string {
    return `${this.urlOf(ctx, page)}?token=${token}`;
  }

  /** Builds a URL from the app's own URL, never from the `Host` header of the request. */
  urlOf(ctx: HttpContext, page: string): string {
    const { services } = ctx;
    if (!page.startsWith("/")) return page;
    if (services.publicUrl === null && isProduction())
      throw new Error("links in emails and identity providers require the app's publicUrl option in production");
    return (services.publicUrl ?? services.listensOn() ?? "") + page;
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
      () => this.pendingSignIns(ctx).revoke(user),
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
