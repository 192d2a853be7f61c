import type { Router } from "../../../http/routing/router.ts";
import { sessionsOf } from "../../../kernel/identity/session-manager.ts";
import type { CountedAttempt } from "../../limits/attempt-limit.ts";
import { rotateRefreshToken } from "../../tokens/rotate-refresh-token.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { Account, accountOf } from "../schemas/account.ts";
import { describe, TOO_MANY } from "../schemas/describe.ts";
import { type RecordSchema, record, requestBody } from "../schemas/record-schema.ts";

const Login = requestBody({ identifier: "string", password: "string", remember: "boolean?" });
const tokens = {
  access_token: "string",
  token_type: "string",
  expires_in: "integer",
  refresh_token: "string?",
} as const;
export const Tokens: RecordSchema<typeof tokens> = record(tokens, "AccountTokens");

const SIGN_IN_ERRORS = {
  401: "The username or password is incorrect, or the email address is not verified yet",
  403: "The user has a second factor: complete the sign-in with `pending` (`second_factor_required`). Or a page of another origin sent the request",
  422: "The password is too long or contains an invalid Unicode character",
  429: TOO_MANY,
};

/** `POST /login`: starts a session with a cookie. */
export function loginRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/login",
    {
      ...describe("accountLogin", "Sign in with a session cookie", SIGN_IN_ERRORS),
      body: Login,
      response: { 200: Account },
    },
    async ({ ctx, body, response }) => {
      const user = await accounts.signIns.authenticate(ctx, body.identifier, body.password);
      await accounts.signIns.startSession(ctx, user, { remember: body.remember ?? false, via: null });
      return response.json(accountOf(user));
    },
  );
}

/** `POST /token`: issues an access token and a refresh token. */
export function tokenRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/token",
    {
      ...describe("accountCreateToken", "Sign in with tokens", SIGN_IN_ERRORS),
      body: Login,
      response: { 200: Tokens },
    },
    async ({ ctx, body, response }) => {
      const user = await accounts.signIns.authenticate(ctx, body.identifier, body.password);
      return response.json(await accounts.signIns.tokensFor(ctx, user));
    },
  );
}

/** `POST /refresh`: issues the next pair of tokens. */
export function refreshRoute(router: Router, accounts: Accounts): void {
  router.post(
    "/refresh",
    {
      ...describe("accountRefreshToken", "Exchange a refresh token for new tokens", {
        401: "The refresh token is not valid",
        429: TOO_MANY,
      }),
      body: requestBody({ refresh_token: "string" }),
      response: { 200: Tokens },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "refresh-address", { limit: 600, windowSeconds: 60 });
      let whose: string | null = null;
      const loadUser = async (identity: string): Promise<unknown> => {
        whose = identity;
        await attempt.count(refreshLimits(identity, body.refresh_token));
        const user = await accounts.options.userModel.loadUser(identity);
        attempt.compares();
        return user;
      };
      const pair = await rotateRefreshToken(body.refresh_token, { loadUser }, accounts.tokenOptions(ctx));
      accounts.report(ctx, "token_refreshed", whose);
      return response.json(pair);
    },
  );
}

/** Counted after the token is verified and before it is spent, so that a rejected token stays valid. */
function refreshLimits(account: string, token: string): readonly CountedAttempt[] {
  return [
    { name: "refresh-family", whose: familyOf(token), limit: 10, windowSeconds: 60 },
    { name: "refresh-account", whose: account, limit: 60, windowSeconds: 60 },
  ];
}

/** Returns the prefix that all tokens of a family share. */
function familyOf(token: string): string {
  return token.slice(0, 25);
}

/** `POST /logout` signs out this device, `POST /logout/everywhere` all devices. */
export function logoutRoutes(router: Router, accounts: Accounts): void {
  router.post(
    "/logout",
    {
      ...describe("accountLogout", "Sign out"),
      body: requestBody({ refresh_token: "string?" }),
      response: { 204: null },
    },
    async ({ ctx, request, body, response }) => {
      const { impersonator } = ctx;
      const { identity } = request.user;
      if (body.refresh_token !== undefined) await accounts.revocation.signOutDevice(ctx, body.refresh_token);
      await sessionsOf.of(ctx)?.logout();
      if (impersonator !== null) accounts.report(ctx, "impersonation_ended", identity, impersonator);
      accounts.report(
        ctx,
        "logged_out",
        impersonator ?? (identity === "" ? null : identity),
        impersonator ?? undefined,
      );
      return response.empty();
    },
  );
  router.post(
    "/logout/everywhere",
    { ...describe("accountLogoutEverywhere", "Sign out on all devices"), auth: byPerson, response: { 204: null } },
    async ({ ctx, user, response }) => {
      await accounts.options.userModel.objects.renewCredentials(user);
      await accounts.revocation.signOutEverywhere(ctx, user.identity);
      await sessionsOf.of(ctx)?.logout();
      // The request is anonymous by now.
      accounts.report(ctx, "logged_out_everywhere", user.identity, user.identity);
      return response.empty();
    },
  );
}
