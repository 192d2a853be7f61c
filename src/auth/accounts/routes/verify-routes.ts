import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { BadRequest } from "../../../kernel/exceptions/http-exception.ts";
import { type CountedAttempt, forgetAttempts } from "../../limits/attempt-limit.ts";
import { attemptSecret, type SecretAttempt } from "../../limits/secret-attempt.ts";
import { InvalidLink } from "../invalid-link.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { type AddressProof, admitProof, type Presented } from "../ownership/address-proof.ts";
import { byPerson } from "../ownership/by-person.ts";
import { proveAddress } from "../ownership/prove-address.ts";
import {
  ACCEPTED,
  Accepted,
  BAD_LINK,
  describe,
  FIRST_PROOF,
  FIRST_PROOF_ERRORS,
  TOO_MANY,
} from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { Tokens } from "./login-route.ts";

interface Verification {
  readonly token?: string;
  readonly code?: string;
  readonly password?: string;
  readonly second_factor?: string;
}

/** `POST /verify` redeems the token of a link or the code of an email, `POST /verify/request` sends another one. */
export function verifyRoutes(router: Router, accounts: Accounts): void {
  const { userModel } = accounts.options;
  router.post(
    "/verify",
    {
      ...describe("accountVerifyEmail", "Verify an email address with the link or the code of an email", {
        400: BAD_LINK,
        ...FIRST_PROOF_ERRORS,
        429: TOO_MANY,
      }),
      description: `${FIRST_PROOF.replace("`code`", "`second_factor`")} The session of the request goes on, and with it the password; without a session, send \`password\` to keep it. A caller who uses a token gets new tokens. \`code\` requires a session or a token.`,
      body: requestBody({ token: "string?", code: "string?", password: "string?", second_factor: "string?" }),
      response: { 200: Tokens, 204: null },
    },
    async ({ ctx, body, response }) => {
      const attempt = await accounts.limitAddress(ctx, "verify-confirm", { limit: 10, windowSeconds: 3_600 });
      const proof = await (body.token === undefined
        ? byCode(ctx, accounts, body)
        : byLink(ctx, accounts, attempt, body));
      const { tokens } = await proveAddress(ctx, accounts, proof);
      accounts.report(ctx, "email_verified", proof.user.identity);
      return tokens === null ? response.empty() : response.json(tokens);
    },
  );
  router.post(
    "/verify/request",
    {
      ...describe("accountRequestVerification", "Request another email to verify an email address", {
        401: "There is no `email`, and the caller is not signed in",
        429: TOO_MANY,
      }),
      description: "Without `email`, the email goes to the signed-in caller. It contains a link and a code.",
      body: requestBody({ email: "string?" }),
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "verify-address", { limit: 10, windowSeconds: 3_600 });
      const { email } = body;
      if (email === undefined) await byPerson.check(ctx);
      const key = email === undefined ? { id: ctx.user.identity } : { email };
      accounts.mail.sendVerification(ctx, () => userModel.objects.get(key));
      return response.status(202).json(ACCEPTED);
    },
  );
}

async function byLink(
  ctx: HttpContext,
  accounts: Accounts,
  attempt: SecretAttempt,
  body: Verification,
): Promise<AddressProof> {
  const { token = "" } = body;
  const tokens = accounts.verifyTokens(ctx);
  const offered = await tokens.peek(attempt, token);
  const user = offered === null ? null : await accounts.options.userModel.objects.get({ id: offered.user });
  if (user === null || user.email !== offered?.about) throw new InvalidLink();
  const proof = await admitProof(ctx, accounts, user, presentedIn(body));
  if ((await tokens.redeem(attempt, token)) === null) throw new InvalidLink();
  return proof;
}

async function byCode(ctx: HttpContext, accounts: Accounts, body: Verification): Promise<AddressProof> {
  const { code } = body;
  if (code === undefined) throw new BadRequest("The member token or code must be a string");
  await byPerson.check(ctx);
  const { identity } = ctx.user;
  const codes = accounts.verifyCodes(ctx);
  const counted: CountedAttempt = { name: "verify-code", whose: identity, limit: 5, windowSeconds: 1_800 };
  const user = await attemptSecret(ctx, [counted], async (attempt) => {
    const found = await accounts.options.userModel.objects.get({ id: identity });
    return found !== null && (await codes.isRight(attempt, found, code)) ? found : null;
  });
  if (user === null) throw new InvalidLink();
  const proof = await admitProof(ctx, accounts, user, presentedIn(body));
  if (!(await codes.revoke(identity))) throw new InvalidLink();
  await forgetAttempts(ctx, counted);
  return proof;
}

function presentedIn({ password, second_factor }: Verification): Presented {
  return { password, code: second_factor, isWithSession: true };
}
