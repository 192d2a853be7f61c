import type { HttpContext } from "../../../http/context/http-context.ts";
import { AuthenticationFailed } from "../../../http/exceptions/authentication-failed.ts";
import type { Router } from "../../../http/routing/router.ts";
import { isSignedInStill } from "../../is-signed-in-still.ts";
import { readEmail } from "../../users/account-name.ts";
import { UserExists } from "../../users/user-exists.ts";
import type { AccountHolder, Accounts } from "../accounts.ts";
import { InvalidLink } from "../invalid-link.ts";
import type { TokenGrant } from "../one-time-tokens.ts";
import { byPerson } from "./by-person.ts";
import { ACCEPTED, Accepted, BAD_LINK, describe, TOO_MANY } from "./describe.ts";
import { requestBody } from "./record-schema.ts";
import { FRESH_ERRORS, requireFreshSignIn } from "./require-fresh-sign-in.ts";

/**
 * `POST /email` sends a link to the new address, `POST /email/confirm` redeems its token. The old address is valid
 * until then.
 */
export function emailRoutes(router: Router, accounts: Accounts): void {
  const { userModel, emailPage } = accounts.options;
  router.post(
    "/email",
    {
      ...describe("accountRequestEmailChange", "Request a link to change the email address", {
        ...FRESH_ERRORS,
        422: "The email address or the password is not valid",
        429: TOO_MANY,
      }),
      auth: byPerson,
      body: requestBody({ email: "string", password: "string?" }),
      response: { 202: Accepted },
    },
    async ({ ctx, user, body, response }) => {
      await accounts.limitAddress(ctx, "email-address", { limit: 10, windowSeconds: 3_600 });
      await requireFreshSignIn(ctx, accounts, user as AccountHolder, body.password);
      const { text: address, key } = readEmail(body.email);
      const { identity } = user;
      const isFew = await accounts.mayBeMailed(ctx, "email-mails", identity);
      const token = isFew ? await issueLink(ctx, accounts, { user: identity, about: address }) : null;
      accounts.report(ctx, "email_change_requested", identity);
      accounts.mailLater(ctx, async () => {
        if (token === null) return null;
        const owner = await userModel.objects.get({ email: address });
        // The owner of the address gets a notice; the response to the caller stays the same.
        if (owner !== null && owner.identity !== identity) {
          const isFew = await accounts.mayBeMailed(ctx, "register-mails", owner.identity);
          return isFew ? { to: owner.email, kind: "already_registered", url: null } : null;
        }
        // Limited by recipient too, so that many accounts cannot flood one mailbox.
        if (!(await accounts.mayBeMailed(ctx, "email-recipient", key))) return null;
        return { to: address, kind: "change_email", url: accounts.pageLink(ctx, emailPage, token) };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/email/confirm",
    {
      ...describe("accountConfirmEmailChange", "Change the email address with the token from a link", {
        400: BAD_LINK,
        429: TOO_MANY,
      }),
      body: requestBody({ token: "string" }),
      response: { 204: null },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "email-confirm", { limit: 10, windowSeconds: 3_600 });
      const grant = await accounts.emailTokens(ctx).redeem(body.token);
      const user = grant === null ? null : await userModel.loadUser(grant.user);
      if (grant === null || user === null) throw new InvalidLink();
      try {
        await userModel.objects.setEmail(user, grant.about);
      } catch (error) {
        // The response must not reveal that another user has taken the address.
        throw error instanceof UserExists ? new InvalidLink() : error;
      }
      await Promise.all(
        [accounts.resetTokens(ctx), accounts.verifyTokens(ctx)].map((links) => links.revoke(grant.user)),
      );
      accounts.report(ctx, "email_changed", grant.user);
      accounts.mailLater(ctx, async () => ({ to: user.email, kind: "email_changed", url: null }));
      return response.empty();
    },
  );
}

/**
 * Issues the token of a new link, even if the address already has an account: an earlier link that stayed valid would
 * reveal the account. The credential is checked afterwards, so that a concurrent password reset either revokes the
 * token or is noticed here.
 */
async function issueLink(ctx: HttpContext, accounts: Accounts, grant: TokenGrant): Promise<string> {
  const links = accounts.emailTokens(ctx);
  const token = await links.issue(grant);
  if (await isSignedInStill()) return token;
  await links.revoke(grant.user);
  throw new AuthenticationFailed();
}
