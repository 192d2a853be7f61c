import { useAuth } from "../../../http/access/use-auth.ts";
import type { HttpContext } from "../../../http/context/http-context.ts";
import { Conflict, NotFound } from "../../../http/exceptions/http-exception.ts";
import type { Router } from "../../../http/routing/router.ts";
import type { AccountHolder, Accounts } from "../accounts.ts";
import { attemptSecondFactor } from "../attempt-second-factor.ts";
import { InvalidSecondFactor } from "../invalid-second-factor.ts";
import { reportToOwner } from "../notify-owner.ts";
import { byPerson } from "./by-person.ts";
import { describe, TOO_MANY } from "./describe.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { record, requestBody } from "./record-schema.ts";
import { FRESH_ERRORS, requireFreshSignIn } from "./require-fresh-sign-in.ts";
import { requireLevel, STRONG_ERRORS } from "./require-level.ts";
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
    async ({ ctx, user, body, response }) => {
      const { email } = user as AccountHolder;
      await requireFreshSignIn(ctx, accounts, user as AccountHolder, body.password);
      await requireLevel(ctx, accounts, user.identity);
      await refuseSecondApp(ctx, accounts, user.identity);
      const made = await accounts.factors.enrolTotp(
        accounts.store(ctx),
        user.identity,
        accounts.options.audience,
        email,
      );
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
        409: "The user has an authenticator app already",
        429: TOO_MANY,
      }),
      description:
        "The session is raised to two factors. A caller who uses a token gets new tokens. The recovery codes are returned only once.",
      auth: byPerson,
      body: requestBody({ code: "string" }),
      response: { 200: ConfirmedTotp },
    },
    async ({ ctx, user, body, response }) => {
      const { identity } = user;
      await requireLevel(ctx, accounts, identity);
      await refuseSecondApp(ctx, accounts, identity);
      const codes = await attemptSecondFactor(ctx, accounts, identity, {
        attempt: () => accounts.factors.confirmTotp(accounts.store(ctx), identity, body.code, ctx.services.clock.now()),
        error: () => new InvalidSecondFactor(),
      });
      const tokens = await accounts.stepUp(ctx, user);
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
    freshWithin: accounts.options.freshSeconds,
  });
  router.delete(
    "/factors/totp",
    {
      ...describe("accountRemoveTotp", "Remove the authenticator app", STRONG_ERRORS),
      auth: strongly,
      response: { 204: null },
    },
    async ({ ctx, user, response }) => {
      if (!(await accounts.factors.removeTotp(accounts.store(ctx), user.identity)))
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
      const codes = await accounts.factors.renewRecoveryCodes(accounts.store(ctx), user.identity);
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
