import type { Router } from "../../../http/routing/router.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";
import type { MiddlewareFunction } from "../../../kernel/context/middleware-function.ts";
import { AuthenticationFailed } from "../../../kernel/exceptions/authentication-failed.ts";
import { Conflict, HttpException } from "../../../kernel/exceptions/http-exception.ts";
import { impersonating } from "../../callers/impersonating.ts";
import type { Impersonation } from "../impersonation.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { FRESH_ERRORS } from "../ownership/require-fresh-sign-in.ts";
import { Account, accountOf } from "../schemas/account.ts";
import { describe, TOO_MANY } from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";

const END = "/impersonation/end";

/** `POST /impersonation` lets the session of an administrator act as a user, `POST /impersonation/end` ends that. */
export function impersonationRoutes(router: Router, accounts: Accounts, impersonation: Impersonation): void {
  const { userModel } = accounts.options;
  router.post(
    "/impersonation",
    {
      ...describe("accountImpersonate", "Act as another user", {
        ...FRESH_ERRORS,
        403: "The caller lacks permission or must not act as this user (`impersonation_refused`), or a recent sign-in (`sign_in_again`) or a second factor (`second_factor_required`) is required",
        422: "The password is too long or contains an invalid Unicode character",
        429: TOO_MANY,
      }),
      description: "The session of the caller acts as the user with the id `user`, from the next request on.",
      auth: useAuth({ scopes: ["session"], permissions: [impersonation.permission] }),
      body: requestBody({ user: "string", password: "string?" }),
      response: { 200: Account },
    },
    async ({ ctx, user: admin, body, response }) => {
      await credentialGate(ctx, accounts, "accountImpersonate", body.password);
      const user = await userModel.loadUser(body.user);
      if (user === null || !impersonation.permits(admin, user)) {
        accounts.report(ctx, "impersonation_refused", user?.identity ?? null);
        throw new HttpException(403, "You cannot act as this user.", { code: "IMPERSONATION_REFUSED" });
      }
      const { identity, credentialVersion: version } = user;
      const until = ctx.services.clock.now() + impersonation.maxMs;
      const acting = { user: identity, until, ...(version === undefined ? {} : { version }) };
      if (!(await accounts.signIns.act(ctx, acting))) throw new AuthenticationFailed();
      accounts.report(ctx, "impersonation_started", identity);
      return response.json({ ...accountOf(user), impersonator: admin.identity });
    },
  );
  router.post(
    END,
    {
      ...describe("accountEndImpersonation", "Return to the own session", { 409: "The caller does not act as a user" }),
      description: "Also for a caller whose impersonation has already ended, for example after its maximum time.",
      response: { 204: null },
    },
    async ({ ctx, response }) => {
      const before = await accounts.signIns.act(ctx, null);
      if (before?.acting === undefined) throw new Conflict("The caller does not act as another user");
      accounts.report(ctx, "impersonation_ended", before.acting.user, before.user);
      return response.empty();
    },
  );
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Lets an administrator who acts as a user read the account, sign out and return, and refuses everything else. */
export const ownAccountOnly: MiddlewareFunction = async (ctx, next) => {
  if (ctx.isImpersonated && !READS.has(ctx.request.method) && !/\/(?:logout|impersonation\/end)$/.test(ctx.pattern))
    throw impersonating();
  await next();
};
