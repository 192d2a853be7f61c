import { setImmediate as nextRound } from "node:timers/promises";
import { loggable } from "../../core/describe-error.ts";
import { isProduction } from "../../core/env.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import type { CurrentUser } from "../../kernel/identity/identity.ts";
import { sessionsOf } from "../../kernel/identity/session-manager.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import type { APIKeys } from "../api-keys/api-keys.ts";
import type { Passkeys } from "../factors/passkeys.ts";
import type { SecondFactors } from "../factors/second-factors.ts";
import type { AttemptLimit } from "../limits/attempt-limit.ts";
import { attemptOf, type SecretAttempt } from "../limits/secret-attempt.ts";
import { ProviderLinks } from "../providers/provider-links.ts";
import { RequestSessions } from "../sessions/request-sessions.ts";
import { type RefreshOptions } from "../tokens/rotate-refresh-token.ts";
import { TokenForUser, type TokenPair } from "../tokens/token-for-user.ts";
import type { AccountModel, AccountUser } from "../users/account-model.ts";
import { type AccountEventKind, report } from "./account-event.ts";
import type { ResolvedAccountOptions } from "./account-options.ts";
import { KnownDevices } from "./known-devices.ts";
import { emailTokens, type OneTimeTokens, resetTokens, verifyTokens } from "./one-time-tokens.ts";
import { PendingSignIns } from "./pending-sign-ins.ts";
import { VerificationCodes } from "./verification-codes.ts";

/** A user with an account. */
export type AccountHolder = CurrentUser & AccountUser;

export type AccountUsers = AccountModel<AccountHolder>["objects"];

/** The options without the methods that make or change a lasting credential, which `Accounts.change` gives out. */
export type AccountSettings = Omit<ResolvedAccountOptions, "userModel" | "keys"> & {
  readonly userModel: Pick<AccountModel<AccountHolder>, "loadUser"> & {
    readonly objects: Pick<AccountUsers, "get" | "authenticate" | "createUser" | "renewCredentials" | "setUsername">;
  };
};

/** The passkeys, as far as they are read and verified. */
export type KnownPasskeys = Pick<Passkeys, "options" | "registrationOptions" | "requestOptions" | "verify" | "rename">;

/** The options, stores and events that routes, mails, sign-ins and revocations of accounts share. */
export class AccountBase {
  readonly options: AccountSettings;
  readonly keys: Pick<APIKeys, "list" | "revoke">;
  readonly factors: Pick<SecondFactors, "get" | "methods" | "verify">;
  /** `null` if the application has no passkeys. */
  readonly passkeys: KnownPasskeys | null;

  constructor(
    options: AccountSettings,
    { keys, factors, passkeys }: Pick<AccountBase, "keys" | "factors" | "passkeys">,
  ) {
    this.options = options;
    this.keys = keys;
    this.factors = factors;
    this.passkeys = passkeys;
  }

  /**
   * Counts an attempt against the limit of the client's IP address. Functions that compare a secret require the attempt that
   * this returns.
   */
  async limitAddress(ctx: HttpContext, name: string, limit: AttemptLimit): Promise<SecretAttempt> {
    const attempt = attemptOf(ctx);
    await attempt.count([{ name, whose: addressBucket(ctx.request.ip), ...limit }]);
    return attempt;
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
        if (sid !== undefined) await requestSessionsOf(ctx)?.endOneOf(identity, sid);
      },
    };
  }

  /** Creates tokens. Those without a session belong to no device. */
  tokensOf(ctx: HttpContext, user: CurrentUser, sid: string | undefined): Promise<TokenPair> {
    return new TokenForUser(user, { ...this.tokenOptions(ctx), ...(sid === undefined ? {} : { sid }) }).tokenPair();
  }

  /** Names the session of the caller, whatever its id is by now. `null` for tokens that belong to no session. */
  async sessionOf(ctx: HttpContext): Promise<string | null> {
    return (await requestSessionsOf(ctx)?.origin(ctx.user.identity)) ?? null;
  }

  devices(ctx: HttpContext): KnownDevices {
    return new KnownDevices(this.store(ctx));
  }

  pendingSignIns(ctx: HttpContext): PendingSignIns {
    return new PendingSignIns(this.store(ctx));
  }

  links(ctx: HttpContext): Pick<ProviderLinks, "ownerOf" | "list" | "forget"> {
    return new ProviderLinks(this.store(ctx));
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

  verifyCodes(ctx: HttpContext): VerificationCodes {
    return new VerificationCodes(this.store(ctx));
  }

  store(ctx: HttpContext): KeyValueStore {
    return this.options.store ?? ctx.services.stores.durable;
  }

  /** @param actor who caused the event, if that is not the caller */
  report(ctx: HttpContext, kind: AccountEventKind, user: string | null, actor?: string): void {
    report(ctx, this.options.onEvent, kind, user, actor);
  }

  /** Runs `work` after the response, whose timing must not reveal whether there was anything to do. Logs a failure. */
  later(ctx: HttpContext, failure: string, work: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      await nextRound();
      await work().catch((err: unknown) => ctx.log.error({ err: loggable(err) }, failure));
    };
    ctx.services.laterWork.add(run());
  }

  /** Builds a URL from the app's own URL, never from the `Host` header of the request. */
  urlOf(ctx: HttpContext, page: string): string {
    const { services } = ctx;
    if (!page.startsWith("/")) return page;
    if (services.publicUrl === null && isProduction())
      throw new Error("links in emails and identity providers require the app's publicUrl option in production");
    return (services.publicUrl ?? services.listensOn() ?? "") + page;
  }
}

/** The sessions of the request, or `null` without `SessionMiddleware`. */
export function requestSessionsOf(ctx: HttpContext): RequestSessions | null {
  const sessions = sessionsOf.of(ctx);
  return sessions instanceof RequestSessions ? sessions : null;
}
