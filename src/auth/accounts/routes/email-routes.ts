import { isInstance } from "../../../core/describe-error.ts";
import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { AuthenticationFailed } from "../../../kernel/exceptions/authentication-failed.ts";
import { isSignedInStill } from "../../callers/is-signed-in-still.ts";
import { reserveAttempt } from "../../limits/attempt-limit.ts";
import type { SecretAttempt } from "../../limits/secret-attempt.ts";
import { readEmail } from "../../users/account-name.ts";
import { UserExists } from "../../users/user-exists.ts";
import type { AccountHolder } from "../account-base.ts";
import { InvalidLink } from "../invalid-link.ts";
import type { TokenGrant } from "../one-time-tokens.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { admitProof } from "../ownership/address-proof.ts";
import { byPerson } from "../ownership/by-person.ts";
import { credentialGate } from "../ownership/credential-gate.ts";
import { proveAddress } from "../ownership/prove-address.ts";
import { FRESH_ERRORS } from "../ownership/require-fresh-sign-in.ts";
import { ACCEPTED, Accepted, BAD_LINK, describe, TOO_MANY } from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { Tokens } from "./login-route.ts";

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
      await credentialGate(ctx, accounts, "accountRequestEmailChange", body.password);
      const address = readEmail(body.email);
      const { identity } = user;
      const limit = { name: "email-mails", whose: identity, limit: 3, windowSeconds: 3_600 };
      const { isGranted } = await reserveAttempt(ctx, limit);
      const about = await aboutOf(ctx, accounts, address.text);
      const token = isGranted ? await issueLink(ctx, accounts, { user: identity, about }) : null;
      accounts.report(ctx, "email_change_requested", identity);
      accounts.mail.send(ctx, async () => {
        if (token === null) return null;
        const owner = await userModel.objects.get({ email: address.text });
        // The owner of the address gets a notice; the response to the caller stays the same.
        if (owner !== null && owner.identity !== identity) return { to: owner, kind: "already_registered" };
        return { to: address, kind: "change_email", issue: async () => ({ page: emailPage, token }) };
      });
      return response.status(202).json(ACCEPTED);
    },
  );
  router.post(
    "/email/confirm",
    {
      ...describe("accountConfirmEmailChange", "Change the email address with the token from a link", {
        400: `${BAD_LINK}, or another session asked for it`,
        403: "The account is not verified yet and has a second factor: sign in with it first (`second_factor_required`). Or a page of another origin sent the request",
        429: TOO_MANY,
      }),
      description:
        "Only the session that asked for the change can confirm it, so that a link alone changes no account.",
      auth: byPerson,
      body: requestBody({ token: "string" }),
      response: { 200: Tokens, 204: null },
    },
    async ({ ctx, user, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "email-confirm", { limit: 10, windowSeconds: 3_600 });
      const holder = user as AccountHolder;
      const email = await requestedHere(ctx, accounts, attempt, body.token);
      const proof = await admitProof(ctx, accounts, holder, { isWithSession: true });
      if ((await accounts.emailTokens(ctx).redeem(attempt, body.token)) === null) throw new InvalidLink();
      try {
        const { tokens } = await proveAddress(ctx, accounts, proof, { email });
        accounts.report(ctx, "email_changed", holder.identity);
        accounts.mail.send(ctx, async () => ({ to: holder, kind: "email_changed" }));
        return tokens === null ? response.empty() : response.json(tokens);
      } catch (error) {
        // The response must not reveal that another user has taken the address.
        throw isInstance(error, UserExists) ? new InvalidLink() : error;
      }
    },
  );
}

/** The subject of a token: the new address, and the session that asked for it, whatever its id is by now. */
async function aboutOf(ctx: HttpContext, accounts: Accounts, email: string): Promise<string> {
  return JSON.stringify([email, await accounts.sessionOf(ctx)]);
}

/** Returns the new address. Throws 400 unless the token was issued to the session of the request. */
async function requestedHere(
  ctx: HttpContext,
  accounts: Accounts,
  attempt: SecretAttempt,
  token: string,
): Promise<string> {
  const grant = await accounts.emailTokens(ctx).peek(attempt, token);
  const [email] = (grant === null ? [] : JSON.parse(grant.about)) as readonly string[];
  if (grant === null || email === undefined || grant.user !== ctx.user.identity) throw new InvalidLink();
  if (grant.about !== (await aboutOf(ctx, accounts, email))) throw new InvalidLink();
  return email;
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
