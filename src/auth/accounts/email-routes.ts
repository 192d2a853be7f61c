import type { Router } from "../../http/router.ts";
import { readEmail } from "../users/account-names.ts";
import { UserExists } from "../users/user-exists.ts";
import { InvalidLink } from "./account-exceptions.ts";
import type { AccountHolder, Accounts } from "./accounts.ts";
import { byPerson } from "./by-person.ts";
import { ACCEPTED, Accepted, describe } from "./describe.ts";
import { requireFreshSignIn } from "./fresh-sign-in.ts";
import { record } from "./record-schema.ts";

/** `POST /email` sends a link to the new address, `POST /email/confirm` takes its token. Until then the old one counts. */
export function emailRoutes(router: Router, accounts: Accounts): void {
  const { userModel, emailPage } = accounts.options;
  router.post(
    "/email",
    {
      ...describe("email", "Sends a link to a new address"),
      auth: byPerson,
      body: record({ email: "string", password: "string?" }),
      response: { 202: Accepted },
    },
    async ({ ctx, user, body, response }) => {
      await accounts.limitAddress(ctx, "email-address", { limit: 10, windowSeconds: 3_600 });
      await requireFreshSignIn(ctx, accounts, user as AccountHolder, body.password);
      const address = readEmail(body.email).text;
      const { identity } = user;
      accounts.report(ctx, "email_change_requested", identity);
      accounts.mailLater(ctx, async () => {
        if (!(await accounts.mayBeMailed(ctx, "email-mails", identity))) return null;
        const owner = await userModel.objects.get({ email: address });
        // Whose it is already, is told so; who asked gets the same answer.
        if (owner !== null && owner.identity !== identity) {
          const isFew = await accounts.mayBeMailed(ctx, "register-mails", owner.identity);
          return isFew ? { to: owner.email, kind: "already_registered", url: null } : null;
        }
        const token = await accounts.emailTokens(ctx).issue({ user: identity, about: address });
        return { to: address, kind: "change_email", url: accounts.link(ctx, emailPage, token) };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/email/confirm",
    { ...describe("email", "Changes the address by the token of a link"), body: record({ token: "string" }) },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "email-confirm", { limit: 10, windowSeconds: 3_600 });
      const grant = await accounts.emailTokens(ctx).redeem(body.token);
      const user = grant === null ? null : await userModel.loadUser(grant.user);
      if (grant === null || user === null) throw new InvalidLink();
      try {
        await userModel.objects.setEmail(user, grant.about);
      } catch (error) {
        // Somebody else was faster: that is nobody's business.
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
