import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import type { UserProtocol } from "../../../kernel/identity/identity.ts";
import { forgetLogins, limitLogin } from "../../limits/limit-login.ts";
import type { SecretAttempt } from "../../limits/secret-attempt.ts";
import { readNewPassword } from "../../passwords/password-attempt.ts";
import type { AccountHolder } from "../account-base.ts";
import { InvalidCredentials } from "../invalid-credentials.ts";
import { InvalidLink } from "../invalid-link.ts";
import type { IssuedLink } from "../mail-sender.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { type AddressProof, admitProof } from "../ownership/address-proof.ts";
import { byPerson } from "../ownership/by-person.ts";
import { checkNewPassword } from "../ownership/check-new-password.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { notifyOwner } from "../ownership/notify-owner.ts";
import { proveAddress } from "../ownership/prove-address.ts";
import { requireHuman } from "../require-human.ts";
import {
  ACCEPTED,
  Accepted,
  BAD_LINK,
  BAD_PASSWORD,
  describe,
  FIRST_PROOF,
  FIRST_PROOF_ERRORS,
  TOO_MANY,
} from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { Tokens } from "./login-route.ts";

/** `POST /password`: changes the password, which requires the current one, and signs out all other devices. */
export function passwordRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/password",
    {
      ...describe("accountChangePassword", "Change the password", {
        401: "The caller is not signed in, or the current password is incorrect",
        403: "The session was started without the second factor that the user has (`second_factor_required`). Or the caller lacks permission",
        422: BAD_PASSWORD,
        429: TOO_MANY,
      }),
      auth: byPerson,
      body: requestBody({ current_password: "string", new_password: "string", revoke_keys: "boolean?" }),
      response: { 200: Tokens, 204: null },
    },
    async ({ ctx, user, body, response }) => {
      const { objects } = accounts.options.userModel;
      const { email, username, identity } = user as AccountHolder;
      const grant = await credentialGate(ctx, accounts, "accountChangePassword");
      const writers = accounts.change(ctx, grant);
      const owner = await limitLogin(email, () => objects.authenticate(email, body.current_password));
      // The body may arrive late, when the address already belongs to another user.
      if (owner === null || owner.identity !== identity) throw new InvalidCredentials();
      await checkNewPassword(ctx, accounts, body.new_password, { email, username });
      // Among concurrent changes the first wins: for the others, the current password is no longer correct.
      if (!(await writers.objects.setPassword(owner, body.new_password, owner.credentialVersion)))
        throw new InvalidCredentials();
      accounts.report(ctx, "password_changed", identity);
      notifyOwner(ctx, accounts, user as AccountHolder, { kind: "password_changed" });
      await accounts.resetTokens(ctx).revoke(identity);
      if (body.revoke_keys === true) await writers.keys.revokeAll(user);
      const tokens = await accounts.revocation.signOutElsewhere(ctx, identity, () => afterChange(accounts, owner));
      return tokens === null ? response.empty() : response.json(tokens);
    },
  );
}

/**
 * Returns the user after a change of the password, or `null` if it has changed again in the meantime, for example by a
 * reset, because that has signed this caller out.
 */
async function afterChange({ options }: Accounts, before: AccountHolder): Promise<AccountHolder | null> {
  const user = await options.userModel.loadUser(before.identity);
  return user !== null && isNextGeneration(user, before) ? user : null;
}

function isNextGeneration({ credentialVersion }: UserProtocol, { credentialVersion: before }: UserProtocol): boolean {
  return credentialVersion === undefined || before === undefined || credentialVersion === before + 1;
}

/** `POST /password/reset` sends a link, `POST /password/reset/confirm` redeems its token. */
export function resetRoutes(router: Router, accounts: Accounts): void {
  const { userModel, resetPage } = accounts.options;
  router.post(
    "/password/reset",
    {
      ...describe("accountRequestPasswordReset", "Request a link to reset the password", { 429: TOO_MANY }),
      body: requestBody({ email: "string" }),
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "reset-address", { limit: 10, windowSeconds: 3_600 });
      await requireHuman(ctx, accounts);
      accounts.report(ctx, "password_reset_requested", null);
      accounts.mail.send(ctx, async () => {
        const user = await userModel.objects.get({ email: body.email });
        if (user === null) return null;
        const issue = async (): Promise<IssuedLink> => ({
          page: resetPage,
          token: await accounts.resetTokens(ctx).issue({ user: user.identity, about: user.email }),
        });
        return { to: user, kind: "reset", issue };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/password/reset/confirm",
    {
      ...describe("accountResetPassword", "Reset the password with the token from a link", {
        400: BAD_LINK,
        ...FIRST_PROOF_ERRORS,
        422: BAD_PASSWORD,
        429: TOO_MANY,
      }),
      description: FIRST_PROOF,
      body: requestBody({ token: "string", password: "string", code: "string?" }),
      response: { 204: null },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "reset-confirm", { limit: 10, windowSeconds: 3_600 });
      // Checked before the token is redeemed, so that a password that is too short does not require another email.
      readNewPassword(body.password);
      const proof = await redeem(ctx, accounts, attempt, body);
      const { user } = proof;
      await proveAddress(ctx, accounts, proof, { password: body.password });
      await forgetLogins(ctx, user.identity);
      accounts.report(ctx, "password_reset", user.identity);
      accounts.mail.send(ctx, async () => ({ to: user, kind: "password_changed" }));
      return response.empty();
    },
  );
}

async function redeem(
  ctx: HttpContext,
  accounts: Accounts,
  attempt: SecretAttempt,
  { token, password, code }: { readonly token: string; readonly password: string; readonly code?: string },
): Promise<AddressProof> {
  const tokens = accounts.resetTokens(ctx);
  const { objects } = accounts.options.userModel;
  const offered = await tokens.peek(attempt, token);
  const user = offered === null ? null : await objects.get({ id: offered.user });
  if (user === null || user.email !== offered?.about) throw new InvalidLink();
  await checkNewPassword(ctx, accounts, password, user);
  const proof = await admitProof(ctx, accounts, user, { code });
  if ((await tokens.redeem(attempt, token)) === null) throw new InvalidLink();
  return proof;
}
