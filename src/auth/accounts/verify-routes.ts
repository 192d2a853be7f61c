import type { Router } from "../../http/router.ts";
import { InvalidLink } from "./account-exceptions.ts";
import type { Accounts } from "./accounts.ts";
import { ACCEPTED, Accepted, describe } from "./describe.ts";
import { record } from "./record-schema.ts";

/** `POST /verify` takes the token of a link, `POST /verify/request` sends another link. */
export function verifyRoutes(router: Router, accounts: Accounts): void {
  const { userModel, verifyPage } = accounts.options;
  router.post(
    "/verify",
    { ...describe("verify", "Proves an address by the token of a link"), body: record({ token: "string" }) },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "verify-confirm", { limit: 10, windowSeconds: 3_600 });
      const grant = await accounts.verifyTokens(ctx).redeem(body.token);
      const user = grant === null ? null : await userModel.objects.get({ id: grant.user });
      if (user === null || user.email !== grant?.about) throw new InvalidLink();
      await userModel.objects.markVerified(user);
      accounts.report(ctx, "email_verified", user.identity);
      return response.empty();
    },
  );
  router.post(
    "/verify/request",
    {
      ...describe("verify", "Sends another link to prove an address"),
      body: record({ email: "string" }),
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "verify-address", { limit: 10, windowSeconds: 3_600 });
      accounts.mailLater(ctx, async () => {
        const user = await userModel.objects.get({ email: body.email });
        if (user === null || user.isVerified || !(await accounts.mayBeMailed(ctx, "verify-mails", user.identity)))
          return null;
        const token = await accounts.verifyTokens(ctx).issue({ user: user.identity, about: user.email });
        return { to: user.email, kind: "verify", url: accounts.link(ctx, verifyPage, token) };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
}
