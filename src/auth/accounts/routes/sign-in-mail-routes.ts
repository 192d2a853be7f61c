import type { Router } from "../../../http/routing/router.ts";
import { BrowserCookie } from "../../browser-cookie.ts";
import { countAttempt } from "../../limits/attempt-limit.ts";
import type { Accounts } from "../accounts.ts";
import { InvalidLink } from "../invalid-link.ts";
import { requireHuman } from "../require-human.ts";
import { SIGN_IN_MAIL_SECONDS, SignInMails } from "../sign-in-mails.ts";
import { Account, accountOf } from "./account.ts";
import { ACCEPTED, Accepted, BAD_LINK, describe, TOO_MANY } from "./describe.ts";
import { requestBody } from "./record-schema.ts";

const cookie = new BrowserCookie("__Host-portico_sign_in", SIGN_IN_MAIL_SECONDS);

/**
 * `POST /sign-in-mail` sends a link and a code, `POST /sign-in-mail/confirm` signs in with either of them, in the same
 * browser. There are no such routes without `signInMails`.
 */
export function signInMailRoutes(router: Router, accounts: Accounts): void {
  const { userModel, signInMails, signInLinkPage } = accounts.options;
  if (!signInMails) return;
  router.post(
    "/sign-in-mail",
    {
      ...describe("accountRequestSignInMail", "Request an email to sign in with", { 429: TOO_MANY }),
      body: requestBody({ email: "string", remember: "boolean?" }),
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "sign-in-mail-address", { limit: 10, windowSeconds: 3_600 });
      await requireHuman(ctx, accounts);
      const browser = cookie.renew(ctx);
      accounts.mailLater(ctx, async () => {
        const user = await userModel.objects.get({ email: body.email });
        if (user === null || !(await accounts.mayBeMailed(ctx, "sign-in-mails", user.identity))) return null;
        const { email } = user;
        const mails = new SignInMails(accounts.store(ctx));
        const { token, code } = await mails.issue(browser, user, { email, remember: body.remember ?? false });
        return { to: email, kind: "sign_in", url: accounts.pageLink(ctx, signInLinkPage, token), code };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/sign-in-mail/confirm",
    {
      ...describe("accountSignInByMail", "Sign in with the link or the code of an email", {
        400: `${BAD_LINK}, or another browser asked for the email`,
        429: TOO_MANY,
      }),
      body: requestBody({ token: "string?", code: "string?" }),
      response: { 200: Account },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "sign-in-mail-confirm", { limit: 20, windowSeconds: 300 });
      const browser = cookie.read(ctx);
      if (browser === null) throw new InvalidLink();
      // A code can be guessed, so that a browser has few attempts.
      await countAttempt(ctx, [
        { name: "sign-in-mail-browser", whose: browser, limit: 5, windowSeconds: SIGN_IN_MAIL_SECONDS },
      ]);
      const mailed = await new SignInMails(accounts.store(ctx)).redeem(browser, body);
      const user = mailed === null ? null : await userModel.loadUser(mailed.user);
      if (
        mailed === null ||
        user === null ||
        (user.credentialVersion ?? null) !== mailed.version ||
        user.email !== mailed.email
      )
        throw new InvalidLink();
      cookie.forget(ctx);
      // The email arrived, so the user owns the address.
      if (!user.isVerified) await userModel.objects.markVerified(user);
      accounts.report(ctx, "login_succeeded", user.identity);
      await accounts.startSession(ctx, user, { remember: mailed.remember });
      return response.json(accountOf(user));
    },
  );
}
