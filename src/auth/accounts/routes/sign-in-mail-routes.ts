import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { reserveAttempt } from "../../limits/attempt-limit.ts";
import { BrowserCookie } from "../../sessions/browser-cookie.ts";
import { InvalidLink } from "../invalid-link.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { requireHuman } from "../require-human.ts";
import { Account, accountOf } from "../schemas/account.ts";
import { ACCEPTED, Accepted, BAD_LINK, describe, TOO_MANY } from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { SIGN_IN_MAIL_SECONDS, SignInMails } from "../sign-in-mails.ts";

const cookie = new BrowserCookie("__Host-portico_sign_in", SIGN_IN_MAIL_SECONDS);

/** The codes that may be tried for a user in browsers that did not cause the email. */
const GUESSES = { name: "sign-in-mail-user", limit: 50, windowSeconds: 900 } as const;

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
      accounts.mail.send(ctx, async () => {
        const user = await userModel.objects.get({ email: body.email });
        if (user === null) return null;
        const mails = mailsOf(ctx, accounts);
        const asked = { email: user.email, remember: body.remember ?? false };
        return {
          to: user,
          kind: "sign_in",
          issue: async () => ({ page: signInLinkPage, ...(await mails.issue(browser, user, asked)) }),
          // The newest email works in this browser as well, so that strangers cannot keep the owner from signing in.
          otherwise: () => mails.join(browser, user, asked),
        };
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
      const attempt = await accounts.limitAddress(ctx, "sign-in-mail-confirm", { limit: 20, windowSeconds: 300 });
      const browser = cookie.read(ctx);
      if (browser === null) throw new InvalidLink();
      // A code can be guessed, so that a browser has few attempts.
      await attempt.count([
        { name: "sign-in-mail-browser", whose: browser, limit: 5, windowSeconds: SIGN_IN_MAIL_SECONDS },
      ]);
      const mailed = await mailsOf(ctx, accounts).redeem(
        attempt,
        browser,
        body,
        async (user) => (await reserveAttempt(ctx, { ...GUESSES, whose: user })).isGranted,
      );
      const user = mailed === null ? null : await userModel.loadUser(mailed.user);
      if (
        mailed === null ||
        user === null ||
        (user.credentialVersion ?? null) !== mailed.version ||
        user.email !== mailed.email
      )
        throw new InvalidLink();
      cookie.forget(ctx);
      accounts.report(ctx, "login_succeeded", user.identity);
      // The email arrived, so the user owns the address.
      await accounts.signIns.startSession(ctx, user, { remember: mailed.remember, via: null, proves: mailed.email });
      return response.json({ ...accountOf(user), email_verified: true });
    },
  );
}

function mailsOf(ctx: HttpContext, accounts: Accounts): SignInMails {
  return new SignInMails(accounts.store(ctx), accounts.options.secret, ctx.services.clock);
}
