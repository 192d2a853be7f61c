import type { Router } from "../../http/router.ts";
import { readEmail, readUsername } from "../users/account-names.ts";
import { UserExists } from "../users/user-exists.ts";
import type { Accounts } from "./accounts.ts";
import { ACCEPTED, Accepted, describe } from "./describe.ts";
import { checkNewPassword } from "./new-password.ts";
import { record } from "./record-schema.ts";

const Registration = record({ email: "string", username: "string", password: "string" });

/** `POST /register`: the same answer, after the same work, whether the address is new or has an account. */
export function registerRoute(router: Router, accounts: Accounts): void {
  const { userModel, verifyEmail, verifyPage } = accounts.options;
  router.post(
    "/register",
    { ...describe("register", "Registers a user"), body: Registration, response: { 202: Accepted } },
    async ({ ctx, body, response }) => {
      await accounts.limitAddress(ctx, "register-address", { limit: 10, windowSeconds: 3_600 });
      const email = readEmail(body.email);
      const username = readUsername(body.username, email);
      await checkNewPassword(ctx, accounts, body.password, body);
      try {
        const user = await userModel.objects.createUser({ ...body, email: email.text, username: username.text });
        accounts.report(ctx, "registered", user.identity);
        if (verifyEmail)
          accounts.mailLater(ctx, async () => {
            const token = await accounts.verifyTokens(ctx).issue({ user: user.identity, about: user.email });
            return { to: user.email, kind: "verify", url: accounts.link(ctx, verifyPage, token) };
          });
      } catch (error) {
        // A name is public, and somebody has to be told to choose another one. An address is nobody's business.
        if (!(error instanceof UserExists) || error.taken === "username") throw error;
        accounts.report(ctx, "registration_repeated", null);
        accounts.mailLater(ctx, async () => {
          const owner = await userModel.objects.get({ email: body.email });
          if (owner === null || !(await accounts.mayBeMailed(ctx, "register-mails", owner.identity))) return null;
          return { to: owner.email, kind: "already_registered", url: null };
        });
      }
      return response.status(202).json(ACCEPTED);
    },
  );
}
