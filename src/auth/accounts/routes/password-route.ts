import type { HttpContext } from "../../../http/context/http-context.ts";
import type { UserProtocol } from "../../../http/identity/identity.ts";
import type { Router } from "../../../http/routing/router.ts";
import { forgetLogins, limitLogin } from "../../limits/limit-login.ts";
import { readNewPassword } from "../../passwords/password-attempt.ts";
import type { TokenPair } from "../../tokens/token-for-user.ts";
import type { AccountHolder, Accounts } from "../accounts.ts";
import { checkNewPassword } from "../check-new-password.ts";
import { InvalidCredentials } from "../invalid-credentials.ts";
import { InvalidLink } from "../invalid-link.ts";
import { notifyOwner } from "../notify-owner.ts";
import { requireHuman } from "../require-human.ts";
import { runEach } from "../run-each.ts";
import { byPerson } from "./by-person.ts";
import { ACCEPTED, Accepted, BAD_LINK, BAD_PASSWORD, describe, TOO_MANY } from "./describe.ts";
import { Tokens } from "./login-route.ts";
import { requestBody } from "./record-schema.ts";

/** `POST /password`: changes the password, which requires the current one, and signs out all other devices. */
export function passwordRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/password",
    {
      ...describe("accountChangePassword", "Change the password", {
        401: "The caller is not signed in, or the current password is incorrect",
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
      const owner = await limitLogin(email, () => objects.authenticate(email, body.current_password));
      // The body may arrive late, when the address already belongs to another user.
      if (owner === null || owner.identity !== identity) throw new InvalidCredentials();
      await checkNewPassword(ctx, accounts, body.new_password, { email, username });
      // Among concurrent changes the first wins: for the others, the current password is no longer correct.
      if (!(await objects.setPassword(owner, body.new_password, owner.credentialVersion)))
        throw new InvalidCredentials();
      await accounts.resetTokens(ctx).revoke(identity);
      await accounts.signOutEverywhere(ctx, identity);
      if (body.revoke_keys === true) await accounts.keys.revokeAll(user);
      const tokens = await signInAgain(ctx, accounts, owner);
      accounts.report(ctx, "password_changed", identity);
      notifyOwner(ctx, accounts, user as AccountHolder, { kind: "password_changed" });
      return tokens === null ? response.empty() : response.json(tokens);
    },
  );
}

/**
 * Starts a new session for a caller with a session, or returns new tokens for a caller with a token. Does neither if
 * the password has changed again in the meantime, for example by a reset, because that has signed this caller out.
 *
 * @param before the user before the change
 */
async function signInAgain(ctx: HttpContext, accounts: Accounts, before: AccountHolder): Promise<TokenPair | null> {
  const user = await accounts.options.userModel.loadUser(before.identity);
  if (user === null || !isNextGeneration(user, before)) return null;
  const kind = ctx.scope.auth === "jwt" ? "tokens" : "cookie";
  // The caller has proved the password, and the second factor when the session began.
  return accounts.admit(ctx, user, { kind, remember: false }, ctx.identity.credential?.level);
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
      accounts.mailLater(ctx, async () => {
        const user = await userModel.objects.get({ email: body.email });
        if (user === null || !(await accounts.mayBeMailed(ctx, "reset-mails", user.identity))) return null;
        const token = await accounts.resetTokens(ctx).issue({ user: user.identity, about: user.email });
        return { to: user.email, kind: "reset", url: accounts.pageLink(ctx, resetPage, token) };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/password/reset/confirm",
    {
      ...describe("accountResetPassword", "Reset the password with the token from a link", {
        400: BAD_LINK,
        422: BAD_PASSWORD,
        429: TOO_MANY,
      }),
      body: requestBody({ token: "string", password: "string" }),
      response: { 204: null },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "reset-confirm", { limit: 10, windowSeconds: 3_600 });
      // Checked before the token is redeemed, so that a password that is too short does not require another email.
      readNewPassword(body.password);
      const user = await redeem(ctx, accounts, body.token, body.password);
      await userModel.objects.setPassword(user, body.password);
      await runEach([
        () => accounts.signOutEverywhere(ctx, user.identity),
        () => accounts.keys.revokeAll(user),
        // The email arrived, so the user owns the address.
        () => userModel.objects.markVerified(user),
        () => accounts.links(ctx).passwordSet(user.identity),
      ]);
      await forgetLogins(ctx, user.identity);
      accounts.report(ctx, "password_reset", user.identity);
      accounts.mailLater(ctx, async () => ({ to: user.email, kind: "password_changed", url: null }));
      return response.empty();
    },
  );
}

async function redeem(ctx: HttpContext, accounts: Accounts, token: string, password: string): Promise<AccountHolder> {
  const tokens = accounts.resetTokens(ctx);
  const { objects } = accounts.options.userModel;
  const offered = await tokens.peek(token);
  const user = offered === null ? null : await objects.get({ id: offered.user });
  if (user === null || user.email !== offered?.about) throw new InvalidLink();
  await checkNewPassword(ctx, accounts, password, user);
  if ((await tokens.redeem(token)) === null) throw new InvalidLink();
  return user;
}
