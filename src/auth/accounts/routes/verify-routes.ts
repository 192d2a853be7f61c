import type { Router } from "../../../http/routing/router.ts";
import type { Accounts } from "../accounts.ts";
import { InvalidLink } from "../invalid-link.ts";
import { ACCEPTED, Accepted, BAD_LINK, describe, TOO_MANY } from "./describe.ts";
import { requestBody } from "./record-schema.ts";

/** `POST /verify` redeems the token of a link, `POST /verify/request` sends another link. */
export function verifyRoutes(router: Router, accounts: Accounts): void {
  const { userModel } = accounts.options;
  router.post(
    "/verify",
    {
      ...describe("accountVerifyEmail", "Verify an email address with the token from a link", {
        400: BAD_LINK,
        429: TOO_MANY,
      }),
      body: requestBody({ token: "string" }),
      response: { 204: null },
    },
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
      ...describe("accountRequestVerification", "Request another link to verify an email address", { 429: TOO_MANY }),
      body: requestBody({ email: "string" }),
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "verify-address", { limit: 10, windowSeconds: 3_600 });
      accounts.mailVerification(ctx, () => userModel.objects.get({ email: body.email }));
      return response.status(202).json(ACCEPTED);
    },
  );
}
