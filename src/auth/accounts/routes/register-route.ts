import { isInstance } from "../../../core/describe-error.ts";
import type { Router } from "../../../http/routing/router.ts";
import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { HttpException } from "../../../kernel/exceptions/http-exception.ts";
import { type AccountName, readEmail, readUsername } from "../../users/account-name.ts";
import { UserExists } from "../../users/user-exists.ts";
import { wantUsername } from "../claim-username.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { checkNewPassword } from "../ownership/check-new-password.ts";
import { requireHuman } from "../require-human.ts";
import { ACCEPTED, Accepted, describe, TOO_MANY } from "../schemas/describe.ts";
import { requestBody } from "../schemas/record-schema.ts";
import { outcomeOf, RefusedFields } from "./refused-fields.ts";

const Registration = requestBody({ email: "string", username: "string?", password: "string" });

/**
 * `POST /register`: does the same work and returns the same response whether the address is new or has an account. A user
 * who gives no username has the address as username.
 *
 * Usernames are public, so a taken username is rejected, whatever the address. With `verifyEmail`, a registration takes no
 * username: the user gets it when the address is verified. Otherwise, a registration with a known address, which creates no
 * user, could be recognised because its username stays free.
 */
export function registerRoute(router: Router, accounts: Accounts): void {
  const { userModel, verifyEmail } = accounts.options;
  const { objects } = userModel;
  router.post(
    "/register",
    {
      ...describe("accountRegister", "Register a user", {
        409: "The username is taken (`user_exists`)",
        422: "The email address, the username or the password is not acceptable. `code` says why, and `errors` lists each of them",
        429: TOO_MANY,
      }),
      body: Registration,
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "register-address", { limit: 10, windowSeconds: 3_600 });
      const { email, username } = await readRegistration(ctx, accounts, body);
      // A username equal to the address reveals no more than the address does.
      const isAddress = username.key === email.key;
      if (!isAddress && (await objects.get({ username: username.text })) !== null) {
        tellOwner(ctx, accounts, email);
        throw new UserExists("username");
      }
      const isLater = verifyEmail && !isAddress;
      try {
        const user = await objects.createUser({
          ...body,
          email: email.text,
          username: isLater ? email.text : username.text,
        });
        accounts.report(ctx, "registered", user.identity);
        if (verifyEmail)
          accounts.mail.sendVerification(ctx, async () => {
            if (isLater) await wantUsername(ctx, accounts, user, username.text);
            return user;
          });
      } catch (error) {
        const isKnown = isInstance(error, UserExists) && (isLater || isAddress || error.taken === "email");
        if (!isKnown) throw error;
        tellOwner(ctx, accounts, email);
      }
      return response.status(202).json(ACCEPTED);
    },
  );
}

/** Throws 422 with the problems of all fields, so that a form can show them together. */
async function readRegistration(
  ctx: HttpContext,
  accounts: Accounts,
  body: { readonly email: string; readonly username?: string; readonly password: string },
): Promise<{ readonly email: AccountName; readonly username: AccountName }> {
  const email = await outcomeOf(() => readEmail(body.email));
  const isEmail = !isInstance(email, HttpException);
  const given = body.username ?? (isEmail ? email.text : undefined);
  // Without both, the username is the address, which has its own problem.
  const username =
    given === undefined ? null : await outcomeOf(() => readUsername(given, isEmail ? email : { text: "", key: "" }));
  await requireHuman(ctx, accounts);
  const names = { email: body.email, username: given ?? body.email };
  const password = await outcomeOf(() => checkNewPassword(ctx, accounts, body.password, names));
  if (!isEmail || username === null || isInstance(username, HttpException) || isInstance(password, HttpException))
    throw new RefusedFields({ email, username, password });
  return { email, username };
}

/** Notifies the owner of the address that someone tried to register with it. */
function tellOwner(ctx: HttpContext, accounts: Accounts, email: AccountName): void {
  accounts.mail.send(ctx, async () => {
    const owner = await accounts.options.userModel.objects.get({ email: email.text });
    if (owner === null) return null;
    accounts.report(ctx, "registration_repeated", null);
    return { to: owner, kind: "already_registered" };
  });
}
