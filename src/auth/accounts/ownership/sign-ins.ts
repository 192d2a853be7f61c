import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { SecondFactorRequired } from "../../../kernel/exceptions/second-factor-required.ts";
import { type AssuranceLevel } from "../../../kernel/identity/credential.ts";
import type { CurrentUser } from "../../../kernel/identity/identity.ts";
import { limitLoginOn } from "../../limits/limit-login.ts";
import { ProviderSessions } from "../../providers/provider-sessions.ts";
import { deviceLabel } from "../../sessions/device-label.ts";
import { sessionNamedBy } from "../../sessions/request-sessions.ts";
import type { Acting, SessionRecord } from "../../sessions/session-record.ts";
import { type TokenPair } from "../../tokens/token-for-user.ts";
import { type AccountHolder, requestSessionsOf } from "../account-base.ts";
import { InvalidCredentials } from "../invalid-credentials.ts";
import { type SignInForm } from "../pending-sign-ins.ts";
import { requireHuman } from "../require-human.ts";
import type { Accounts } from "./accounts.ts";
import { admitProof } from "./address-proof.ts";
import { proveAddress } from "./prove-address.ts";

/** Signs users in, by whatever method, and raises their sessions. */
export class SignIns {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /**
   * Returns the user with this email address or username and this password. Throws the same 401 in every other case,
   * and 429 after too many attempts. A user who has not verified the email address yet is sent another link.
   */
  async authenticate(ctx: HttpContext, identifier: string, password: string): Promise<AccountHolder> {
    const { userModel, verifyEmail, knownDevices } = this.#accounts.options;
    await requireHuman(ctx, this.#accounts);
    const browser = knownDevices ? await this.#accounts.devices(ctx).browserFor(ctx, identifier, userModel) : null;
    const user = await limitLoginOn(browser, identifier, async () => {
      const found = await userModel.objects.authenticate(identifier, password);
      if (found === null || !verifyEmail || found.isVerified) return found;
      this.#accounts.mail.sendVerification(ctx, async () => found);
      return null;
    });
    if (user === null) {
      this.#accounts.report(ctx, "login_failed", null);
      throw new InvalidCredentials(verifyEmail);
    }
    this.#accounts.report(ctx, "login_succeeded", user.identity);
    return user;
  }

  /**
   * Starts a session with a cookie for a user who has just signed in, by whatever method. Throws 403
   * `SECOND_FACTOR_REQUIRED` if the user has a second factor, which completes the sign-in.
   */
  async startSession(ctx: HttpContext, user: AccountHolder, form: Omit<SignInForm, "kind">): Promise<void> {
    await this.#requireSecondFactor(ctx, user, { ...form, kind: "cookie" });
    await this.admit(ctx, user, { ...form, kind: "cookie" }, undefined);
  }

  /**
   * Creates tokens for a user who has just signed in. They belong to a session, so that the device is listed. Throws 403
   * `SECOND_FACTOR_REQUIRED` if the user has a second factor, which completes the sign-in.
   */
  async tokensFor(ctx: HttpContext, user: AccountHolder): Promise<TokenPair> {
    const form: SignInForm = { kind: "tokens", remember: false, via: null };
    await this.#requireSecondFactor(ctx, user, form);
    return (await this.admit(ctx, user, form, undefined)) as TokenPair;
  }

  /**
   * Starts a session at this level, in the form in which the caller signed in. Returns the tokens, or `null` if the
   * session has a cookie. Only for callers who have proved all of their factors.
   */
  async admit(
    ctx: HttpContext,
    holder: AccountHolder,
    { kind, remember, via, proves }: SignInForm,
    level: AssuranceLevel | undefined,
  ): Promise<TokenPair | null> {
    const options = level === undefined ? {} : { level };
    let user = holder;
    // The address may have changed while the sign-in waited for the second factor.
    if (proves === holder.email && !holder.isVerified)
      ({ user } = await proveAddress(ctx, this.#accounts, await admitProof(ctx, this.#accounts, holder, { level }), {
        link: via,
      }));
    if (this.#accounts.options.knownDevices) await this.#noteDevice(ctx, user, kind);
    if (kind === "tokens")
      return this.#accounts.tokensOf(ctx, user, await requestSessionsOf(ctx)?.begin(user, options));
    await ctx.request.sessions.login(user, { ...options, remember });
    if (via !== null) await this.#noteProvider(ctx, user, via);
    return null;
  }

  /** Raises the caller's session after a second factor. Returns new tokens to a caller who uses a token. */
  async stepUp(ctx: HttpContext, user: CurrentUser): Promise<TokenPair | null> {
    const renewed = await requestSessionsOf(ctx)?.renew(user, "mfa");
    return renewed?.hasToken === true ? this.#accounts.tokensOf(ctx, user, renewed.handle) : null;
  }

  /** Lets the caller's session act as another user, or as its own again. Returns its record as it was before. */
  async act(ctx: HttpContext, acting: Acting | null): Promise<SessionRecord | null> {
    return (await requestSessionsOf(ctx)?.act(acting)) ?? null;
  }

  async #requireSecondFactor(ctx: HttpContext, user: CurrentUser, form: SignInForm): Promise<void> {
    if (this.#accounts.options.except.includes("factors")) return;
    const methods = await this.#accounts.factors.methods(this.#accounts.store(ctx), user.identity);
    if (methods.length === 0) return;
    throw new SecondFactorRequired({ pending: await this.#accounts.pendingSignIns(ctx).issue(user, form), methods });
  }

  /** Remembers the device, and tells the user about a new one. */
  async #noteDevice(ctx: HttpContext, user: AccountHolder, kind: SignInForm["kind"]): Promise<void> {
    if (!(await this.#accounts.devices(ctx).remember(ctx, user, kind))) return;
    this.#accounts.report(ctx, "new_device", user.identity);
    const device = deviceLabel(ctx.request.headers["user-agent"]);
    this.#accounts.mail.send(ctx, async () => ({ to: user, kind: "new_device", device }));
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
    await new ProviderSessions(this.#accounts.store(ctx), ctx.services.clock).add(via, { user, handle, until });
  }
}
