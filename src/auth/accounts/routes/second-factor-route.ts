import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { BadRequest } from "../../../kernel/exceptions/http-exception.ts";
import type { SecretAttempt } from "../../limits/secret-attempt.ts";
import type { AccountHolder, KnownPasskeys } from "../account-base.ts";
import { attemptSecondFactor } from "../attempt-second-factor.ts";
import { InvalidPasskey, InvalidSecondFactor, SignInExpired } from "../invalid-second-factor.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { reportToOwner } from "../ownership/notify-owner.ts";
import { accountOf } from "../schemas/account.ts";
import { describe, TOO_MANY } from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { passkeyCall } from "./passkey-call.ts";
import { PasskeyRequest } from "./passkey-sign-in-routes.ts";
import { SignInResult } from "./sign-in-result.ts";

/** The code or the passkey with which a user proves the second factor. */
interface Proof {
  readonly pending?: string;
  readonly code?: string;
  readonly credential?: object;
}

/**
 * `POST /second-factor`: completes a sign-in that waits for the second factor, or raises the session of a signed-in
 * caller to two factors.
 */
export function secondFactorRoute(router: Router, accounts: Accounts): void {
  const { passkeys } = accounts;
  if (passkeys !== null) passkeyOptionsRoute(router, accounts, passkeys);
  router.post(
    "/second-factor",
    {
      ...describe("accountSecondFactor", "Prove the second factor", {
        401: "The code is incorrect (`invalid_second_factor`), the passkey could not be verified (`invalid_passkey`), the sign-in has expired (`sign_in_expired`), or the caller is not signed in",
        429: TOO_MANY,
      }),
      description:
        "With `pending`, the response is that of the sign-in. Without it, the caller's session is raised to two factors under a new id, and a caller who uses a token gets new tokens.",
      body: requestBody({ pending: "string?", code: "string?", credential: "assertion?" }),
      response: { 200: SignInResult },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "second-factor-address", { limit: 20, windowSeconds: 300 });
      const user = await userOf(ctx, accounts, attempt, body.pending);
      await verify(ctx, accounts, user, body);
      if (body.pending === undefined)
        return response.json((await accounts.signIns.stepUp(ctx, user)) ?? accountOf(user));
      const form = await accounts.pendingSignIns(ctx).redeem(attempt, body.pending, user);
      if (form === null) throw new SignInExpired();
      return response.json((await accounts.signIns.admit(ctx, user, form, "mfa")) ?? accountOf(user));
    },
  );
}

/** `POST /second-factor/options`: the challenge for a passkey as second factor. */
function passkeyOptionsRoute(router: Router, accounts: Accounts, passkeys: KnownPasskeys): void {
  router.post(
    "/second-factor/options",
    {
      ...describe("accountSecondFactorOptions", "Begin to prove the second factor with a passkey", {
        401: "The sign-in has expired (`sign_in_expired`), or the caller is not signed in",
        429: TOO_MANY,
      }),
      description: "Pass `options` to `navigator.credentials.get()`, and its result to `POST /second-factor`.",
      body: requestBody({ pending: "string?" }),
      response: { 200: PasskeyRequest },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "passkey-options", { limit: 100, windowSeconds: 300 });
      const { identity } = await userOf(ctx, accounts, attempt, body.pending);
      const call = passkeyCall(ctx, accounts, passkeys, body.pending);
      return response.json({ options: await passkeys.requestOptions(call, identity) });
    },
  );
}

/** The user of the pending sign-in, or the signed-in caller. */
async function userOf(
  ctx: HttpContext,
  accounts: Accounts,
  attempt: SecretAttempt,
  pending: string | undefined,
): Promise<AccountHolder> {
  if (pending === undefined) {
    await byPerson.check(ctx);
    return ctx.user as AccountHolder;
  }
  const identity = await accounts.pendingSignIns(ctx).userOf(attempt, pending);
  const user = identity === null ? null : await accounts.options.userModel.loadUser(identity);
  if (user === null) throw new SignInExpired();
  return user;
}

async function verify(ctx: HttpContext, accounts: Accounts, user: AccountHolder, proof: Proof): Promise<void> {
  const { identity } = user;
  const { passkeys, factors } = accounts;
  const { pending, code, credential } = proof;
  const now = ctx.services.clock.now();
  if (credential !== undefined && passkeys !== null) {
    const attempt = (secret: SecretAttempt): Promise<string | null> =>
      passkeys.verify(secret, passkeyCall(ctx, accounts, passkeys, pending), identity, credential, now);
    await attemptSecondFactor(ctx, accounts, identity, { attempt, error: () => new InvalidPasskey() });
    accounts.report(ctx, "second_factor_used", identity);
    return;
  }
  if (code === undefined) throw new BadRequest("The member code must be a string");
  const method = await attemptSecondFactor(ctx, accounts, identity, {
    attempt: (secret) => factors.verify(secret, accounts.store(ctx), identity, { code, now }),
    error: () => new InvalidSecondFactor(),
  });
  if (method === "recovery") reportToOwner(ctx, accounts, user, { kind: "recovery_code_used" });
  else accounts.report(ctx, "second_factor_used", identity);
}
