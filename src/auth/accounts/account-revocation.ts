import { loggable } from "../../core/describe-error.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { type AssuranceLevel, revoked } from "../../kernel/identity/credential.ts";
import { sessionNamedBy } from "../sessions/request-sessions.ts";
import { endFamilyOf, revokeRefreshTokensOf } from "../tokens/rotate-refresh-token.ts";
import { type TokenPair } from "../tokens/token-for-user.ts";
import { type AccountBase, type AccountHolder, requestSessionsOf } from "./account-base.ts";
import { runEach } from "./run-each.ts";

/** Ends sign-ins, with everything that was made from them. */
export class AccountRevocation {
  readonly #base: AccountBase;

  constructor(base: AccountBase) {
    this.#base = base;
  }

  /**
   * Revokes the user's sessions, refresh tokens and access tokens, closes open sockets, and cancels a pending email
   * change.
   *
   * @param spared the handle of a session that goes on
   */
  async signOutEverywhere(ctx: HttpContext, user: string, spared: string | null = null): Promise<void> {
    await runEach([
      async () => requestSessionsOf(ctx)?.endAllOf(user, spared),
      () => revokeRefreshTokensOf(user, this.#base.tokenOptions(ctx)),
      () => this.#base.emailTokens(ctx).revoke(user),
      () => this.#base.pendingSignIns(ctx).revoke(user),
      () => this.#publishEnd(ctx, user),
    ]);
  }

  /**
   * Ends every sign-in of the caller except this one, which goes on under a new id. Returns new tokens to a caller who
   * uses a token. Throws 401 if another request has ended this sign-in, too.
   *
   * @param reload returns the caller with the current `credentialVersion`, or `null` if this sign-in ends with the others
   * @param raised the new level of the session, if it changes
   */
  async signOutElsewhere(
    ctx: HttpContext,
    identity: string,
    reload: () => Promise<AccountHolder | null>,
    raised?: AssuranceLevel,
  ): Promise<TokenPair | null> {
    const { auth, credential } = ctx.identity;
    const sessions = requestSessionsOf(ctx);
    const own = sessionNamedBy(credential);
    await this.signOutEverywhere(ctx, identity, own);
    const user = await reload();
    if (user === null) {
      if (own !== null) await sessions?.endOneOf(identity, own);
      return null;
    }
    const renewed = own === null ? undefined : await sessions?.renew(user, raised);
    // The device has shown the old credentials, so it is not a new one.
    if (this.#base.options.knownDevices)
      await this.#base.devices(ctx).remember(ctx, user, auth === "jwt" ? "tokens" : "cookie");
    if (auth !== "jwt") return null;
    const now = raised ?? credential?.level;
    const level = now === undefined ? {} : { level: now };
    return this.#base.tokensOf(ctx, user, renewed?.handle ?? (await sessions?.begin(user, level)));
  }

  /**
   * After the first second factor: ends the sessions and tokens that were started without it, and raises the caller's.
   * Returns new tokens to a caller who uses a token.
   */
  async endWeaker(ctx: HttpContext, identity: string): Promise<TokenPair | null> {
    const { userModel } = this.#base.options;
    await userModel.objects.renewCredentials(ctx.user);
    return this.signOutElsewhere(ctx, identity, () => userModel.loadUser(identity), "mfa");
  }

  /** Revokes the family of a refresh token, and ends its session with the access tokens and sockets. */
  async signOutDevice(ctx: HttpContext, refreshToken: string): Promise<void> {
    const owner = await endFamilyOf(refreshToken, this.#base.tokenOptions(ctx));
    if (owner?.sid !== undefined) await requestSessionsOf(ctx)?.endOneOf(owner.identity, owner.sid);
  }

  /** Ends one session of a user with its access tokens and sockets. */
  async endSession(ctx: HttpContext, user: string, handle: string): Promise<void> {
    await requestSessionsOf(ctx)?.endOneOf(user, handle);
  }

  /** Invalidates the links and codes that prove the address of a user, after one of them did. */
  async revokeLinks(ctx: HttpContext, user: string): Promise<void> {
    const links = [this.#base.resetTokens(ctx), this.#base.verifyTokens(ctx), this.#base.verifyCodes(ctx)];
    await Promise.all(links.map((entry) => entry.revoke(user)));
  }

  async #publishEnd(ctx: HttpContext, user: string): Promise<void> {
    // Published outside the request's transaction: a rollback does not undo the revocation.
    try {
      await ctx.services.stores.bus.publish(revoked, { user });
    } catch (err) {
      // Open sockets are closed when their credential is next rechecked.
      ctx.log.warn({ err: loggable(err) }, "failed to publish a credential revocation for a user");
    }
  }
}
