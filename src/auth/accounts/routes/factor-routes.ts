import type { Router } from "../../../http/routing/router.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { Conflict, NotFound } from "../../../kernel/exceptions/http-exception.ts";
import type { AccountHolder } from "../account-base.ts";
import { attemptSecondFactor } from "../attempt-second-factor.ts";
import { InvalidSecondFactor } from "../invalid-second-factor.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { reportToOwner } from "../ownership/notify-owner.ts";
import { FRESH_ERRORS } from "../ownership/require-fresh-sign-in.ts";
import { STRONG_ERRORS } from "../ownership/require-level.ts";
import { describe, NOT_OWNED, TOO_MANY } from "../schemas/describe.ts";
import { record, requestBody } from "../schemas/record-schema.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { secondFactorRoute } from "./second-factor-route.ts";

const Factors = record(
  { totp_created_at: "date | null", passkeys: "integer", recovery_codes: "integer" },
  "AccountFactors",
);
const NewTotp = record({ secret: "string", uri: "string", qr: "string" }, "AccountNewTotp");
const RecoveryCodes = record({ recovery_codes: "strings" }, "AccountRecoveryCodes");
const ConfirmedTotp = record(
  {
    recovery_codes: "strings",
    access_token: "string?",
    token_type: "string?",
    expires_in: "integer?",
    refresh_token: "string?",
  },
  "AccountConfirmedTotp",
);

/** The routes of second factors: `GET /factors`, those below it, and `POST /second-factor`. */
export function factorRoutes(router: Router, accounts: Accounts): void {
  secondFactorRoute(router, accounts);
  listFactors(router, accounts);
  enrolTotp(router, accounts);
  confirmTotp(router, accounts);
  changeFactors(router, accounts);
  if (accounts.passkeys !== null) passkeyRoutes(router, accounts, accounts.passkeys);
}

function listFactors(router: Router, accounts: Accounts): void {
  router.get(
    "/factors",
    { ...describe("accountListFactors", "List the second factors"), auth: byPerson, response: { 200: Factors } },
    async ({ ctx, user, response }) => {
      const { totp, passkeys = [], recovery } = await accounts.factors.get(accounts.store(ctx), user.identity);
      return response.json({
        totp_created_at: totp === undefined ? null : new Date(totp.createdAt).toISOString(),
        passkeys: passkeys.length,
        recovery_codes: recovery.length,
      });
    },
  );
}

function enrolTotp(router: Router, accounts: Accounts): void {
  router.post(
    "/factors/totp",
    {
      ...describe("accountEnrolTotp", "Begin to add an authenticator app", {
        ...FRESH_ERRORS,
        409: "The user has an authenticator app already",
        429: TOO_MANY,
      }),
      description: "The secret is returned only once. It is used after its first code is confirmed within ten minutes.",
      auth: byPerson,
      body: requestBody({ password: "string?" }),
      response: { 201: NewTotp },
    },
    async ({ ctx, body, response }) => {
      const grant = await credentialGate(ctx, accounts, "accountEnrolTotp", body.password);
      const { identity, email } = grant.user;
      await refuseSecondApp(ctx, accounts, identity);
      const { factors } = accounts.change(ctx, grant);
      const made = await factors.enrolTotp(accounts.store(ctx), identity, accounts.options.audience, email);
      return response.status(201).json(made);
    },
  );
}

function confirmTotp(router: Router, accounts: Accounts): void {
  router.post(
    "/factors/totp/confirm",
    {
      ...describe("accountConfirmTotp", "Add the authenticator app with its first code", {
        401: "The caller is not signed in, the code is incorrect, or the enrolment has expired",
        403: NOT_OWNED,
        409: "The user has an authenticator app already",
        429: TOO_MANY,
      }),
      description:
        "The session is raised to two factors, and all others end, because they were started with one. A caller who uses a token gets new tokens. The recovery codes are returned only once.",
      auth: byPerson,
      body: requestBody({ code: "string" }),
      response: { 200: ConfirmedTotp },
    },
    async ({ ctx, user, body, response }) => {
      const { identity } = user;
      const store = accounts.store(ctx);
      const grant = await credentialGate(ctx, accounts, "accountConfirmTotp");
      await refuseSecondApp(ctx, accounts, identity);
      const { factors } = accounts.change(ctx, grant);
      const isFirst = (await factors.methods(store, identity)).length === 0;
      const codes = await attemptSecondFactor(ctx, accounts, identity, {
        attempt: (secret) =>
          factors.confirmTotp(secret, store, identity, { code: body.code, now: ctx.services.clock.now() }),
        error: () => new InvalidSecondFactor(),
      });
      const tokens = isFirst
        ? await accounts.revocation.endWeaker(ctx, grant.user.identity)
        : await accounts.signIns.stepUp(ctx, user);
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "second_factor_enrolled" });
      accounts.report(ctx, "recovery_codes_created", identity);
      return response.json({ ...tokens, recovery_codes: codes });
    },
  );
}

/** `DELETE /factors/totp` and `POST /factors/recovery-codes`. Both need a recent sign-in with two factors. */
function changeFactors(router: Router, accounts: Accounts): void {
  const strongly = useAuth({
    scopes: ["session", "jwt"],
    level: "mfa",
    freshSeconds: accounts.options.freshSeconds,
  });
  router.delete(
    "/factors/totp",
    {
      ...describe("accountRemoveTotp", "Remove the authenticator app", STRONG_ERRORS),
      auth: strongly,
      response: { 204: null },
    },
    async ({ ctx, user, response }) => {
      const { factors } = accounts.change(ctx, await credentialGate(ctx, accounts, "accountRemoveTotp"));
      if (!(await factors.removeTotp(accounts.store(ctx), user.identity)))
        throw new NotFound("The user has no authenticator app");
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "second_factor_removed" });
      return response.empty();
    },
  );
  router.post(
    "/factors/recovery-codes",
    {
      ...describe("accountRenewRecoveryCodes", "Replace the recovery codes", STRONG_ERRORS),
      description: "The codes are returned only once, and the earlier ones are no longer valid.",
      auth: strongly,
      response: { 200: RecoveryCodes },
    },
    async ({ ctx, user, response }) => {
      const { factors } = accounts.change(ctx, await credentialGate(ctx, accounts, "accountRenewRecoveryCodes"));
      const codes = await factors.renewRecoveryCodes(accounts.store(ctx), user.identity);
      if (codes === null) throw new NotFound("The user has no second factor");
      reportToOwner(ctx, accounts, user as AccountHolder, { kind: "recovery_codes_created" });
      return response.json({ recovery_codes: codes });
    },
  );
}

async function refuseSecondApp(ctx: HttpContext, accounts: Accounts, user: string): Promise<void> {
  const { totp } = await accounts.factors.get(accounts.store(ctx), user);
  if (totp !== undefined) throw new Conflict("The user has an authenticator app already. Remove it first.");
}
