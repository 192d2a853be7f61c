import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import type { SecretAttempt } from "../../limits/secret-attempt.ts";
import type { AccountHolder, KnownPasskeys } from "../account-base.ts";
import { InvalidPasskey } from "../invalid-second-factor.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { accountOf } from "../schemas/account.ts";
import { describe, TOO_MANY } from "../schemas/describe.ts";
import { type RecordSchema, record, requestBody } from "../schemas/record-schema.ts";
import { browserCall, newBrowserCall } from "./passkey-call.ts";
import { SignInResult } from "./sign-in-result.ts";

const options = { options: "request" } as const;
/** The options for `navigator.credentials.get()`. */
export const PasskeyRequest: RecordSchema<typeof options> = record(options, "AccountPasskeyRequest");

/**
 * `POST /passkeys/sign-in/options` and `POST /passkeys/sign-in`: signs in without a name and a password. The passkey
 * verifies the user, so the session has two factors.
 */
export function passkeySignInRoutes(router: Router, accounts: Accounts, passkeys: KnownPasskeys): void {
  router.post(
    "/passkeys/sign-in/options",
    {
      ...describe("accountPasskeySignInOptions", "Begin to sign in with a passkey", { 429: TOO_MANY }),
      description:
        "Pass `options` to `navigator.credentials.get()`, and its result to `POST /passkeys/sign-in`. A cookie binds them to the browser.",
      response: { 200: PasskeyRequest },
    },
    async ({ ctx, response }) => {
      await accounts.limitAddress(ctx, "passkey-options", { limit: 100, windowSeconds: 300 });
      return response.json({
        options: await passkeys.requestOptions(newBrowserCall(ctx, accounts, passkeys), null),
      });
    },
  );
  router.post(
    "/passkeys/sign-in",
    {
      ...describe("accountPasskeySignIn", "Sign in with a passkey", {
        401: "The passkey could not be verified (`invalid_passkey`)",
        429: TOO_MANY,
      }),
      description: "Starts a session with a cookie, or returns tokens if `tokens` is true.",
      body: requestBody({ credential: "assertion", remember: "boolean?", tokens: "boolean?" }),
      response: { 200: SignInResult },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "passkey-sign-in", { limit: 20, windowSeconds: 300 });
      const user = await userOf(ctx, accounts, passkeys, { attempt, credential: body.credential });
      if (user === null) {
        accounts.report(ctx, "login_failed", null);
        throw new InvalidPasskey();
      }
      accounts.report(ctx, "login_succeeded", user.identity);
      const form = {
        kind: body.tokens === true ? "tokens" : "cookie",
        remember: body.remember ?? false,
        via: null,
      } as const;
      return response.json((await accounts.signIns.admit(ctx, user, form, "mfa")) ?? accountOf(user));
    },
  );
}

/** The owner of the passkey, who must be allowed to sign in with a password, too. */
async function userOf(
  ctx: HttpContext,
  accounts: Accounts,
  passkeys: KnownPasskeys,
  { attempt, credential }: { readonly attempt: SecretAttempt; readonly credential: object },
): Promise<AccountHolder | null> {
  const call = browserCall(ctx, accounts, passkeys);
  const identity = await passkeys.verify(attempt, call, null, credential, ctx.services.clock.now());
  const user = identity === null ? null : await accounts.options.userModel.loadUser(identity);
  return user === null || (accounts.options.verifyEmail && !user.isVerified) ? null : user;
}
