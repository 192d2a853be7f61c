import type { HttpContext } from "../../../http/context/http-context.ts";
import type { Router } from "../../../http/routing/router.ts";
import { type AccountName, readEmail, readUsername } from "../../users/account-name.ts";
import { UserExists } from "../../users/user-exists.ts";
import type { Accounts } from "../accounts.ts";
import { checkNewPassword } from "../check-new-password.ts";
import { requireHuman } from "../require-human.ts";
import { ACCEPTED, Accepted, describe, TOO_MANY } from "./describe.ts";
import { requestBody } from "./record-schema.ts";

const Registration = requestBody({ email: "string", username: "string?", password: "string" });

/** How long a username stays reserved that was requested with the address of an existing account: a year. */
const RESERVED_MS = 365 * 86_400_000;

/**
 * `POST /register`: does the same work and returns the same response whether the address is new or has an account. A user
 * who gives no username has the address as username.
 *
 * Usernames are public, so a taken username is rejected, whatever the address. A username is taken if a user has it or
 * if an accepted registration has reserved it. Without the reservation, a registration for a known address, which
 * creates no user, could be recognised because its username stays free.
 */
export function registerRoute(router: Router, accounts: Accounts): void {
  const { objects } = accounts.options.userModel;
  router.post(
    "/register",
    {
      ...describe("accountRegister", "Register a user", {
        409: "The username is taken (`user_exists`)",
        422: "The email address, the username or the password is not acceptable. `code` says why",
        429: TOO_MANY,
      }),
      body: Registration,
      response: { 202: Accepted },
    },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "register-address", { limit: 10, windowSeconds: 3_600 });
      const email = readEmail(body.email);
      const username = readUsername(body.username ?? email.text, email);
      await requireHuman(ctx, accounts);
      await checkNewPassword(ctx, accounts, body.password, { email: body.email, username: username.text });
      // A username equal to the address reveals no more than the address does.
      const isAddress = username.key === email.key;
      if (!isAddress && !(await reserve(ctx, accounts, username))) {
        tellOwner(ctx, accounts, email);
        throw new UserExists("username");
      }
      try {
        const user = await objects.createUser({ ...body, email: email.text, username: username.text });
        accounts.report(ctx, "registered", user.identity);
        if (accounts.options.verifyEmail) accounts.mailVerification(ctx, async () => user);
        accounts.later(ctx, "failed to release a reserved username", () => release(ctx, accounts, username));
      } catch (error) {
        const isKnown = error instanceof UserExists && (isAddress || error.taken === "email");
        if (!isKnown) {
          await release(ctx, accounts, username);
          throw error;
        }
        tellOwner(ctx, accounts, email);
      }
      return response.status(202).json(ACCEPTED);
    },
  );
}

/** Reserves the username for this registration. Returns `false` if a user or another registration has it. */
async function reserve(ctx: HttpContext, accounts: Accounts, username: AccountName): Promise<boolean> {
  if (!(await accounts.store(ctx).setIfAbsent(keyOf(username), "", RESERVED_MS))) return false;
  if ((await accounts.options.userModel.objects.get({ username: username.text })) === null) return true;
  await release(ctx, accounts, username);
  return false;
}

async function release(ctx: HttpContext, accounts: Accounts, username: AccountName): Promise<void> {
  await accounts.store(ctx).delete(keyOf(username));
}

function keyOf({ key }: AccountName): string {
  return `reserved-username:${key}`;
}

/** Notifies the owner of the address that someone tried to register with it. */
function tellOwner(ctx: HttpContext, accounts: Accounts, email: AccountName): void {
  accounts.mailLater(ctx, async () => {
    const owner = await accounts.options.userModel.objects.get({ email: email.text });
    if (owner === null) return null;
    accounts.report(ctx, "registration_repeated", null);
    if (!(await accounts.mayBeMailed(ctx, "register-mails", owner.identity))) return null;
    return { to: owner.email, kind: "already_registered", url: null };
  });
}
