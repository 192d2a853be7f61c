import { NotFound } from "../../http/exceptions.ts";
import type { Router } from "../../http/router.ts";
import { useAuth } from "../use-auth.ts";
import { Account, accountOf } from "./account-answer.ts";
import type { AccountHolder, Accounts } from "./accounts.ts";
import { byPerson } from "./by-person.ts";
import { describe } from "./describe.ts";

/** `GET /me`: who is calling. */
export function meRoute(router: Router): void {
  router.get(
    "/me",
    { ...describe("me", "Tells who is calling"), auth: useAuth(), response: { 200: Account } },
    (args) => args.response.json(accountOf(args.user as AccountHolder)),
  );
}

/** `GET /sessions`, `DELETE /sessions/:id`: the devices that are signed in. */
export function sessionRoutes(router: Router, accounts: Accounts): void {
  router.get(
    "/sessions",
    { ...describe("sessions", "Lists the devices that are signed in"), auth: byPerson },
    async ({ request, response }) => {
      const sessions = await request.sessions.list();
      return response.json(
        sessions.map(({ id, current, device, address, createdAt, lastSeenAt, expiresAt }) => ({
          id,
          current,
          device,
          address,
          created_at: createdAt.toISOString(),
          last_seen_at: lastSeenAt.toISOString(),
          expires_at: expiresAt.toISOString(),
        })),
      );
    },
  );
  router.delete(
    "/sessions/:id",
    { ...describe("sessions", "Signs a device out"), auth: byPerson },
    async ({ ctx, request, path, user, response }) => {
      if (!(await request.sessions.revoke(path.id))) throw new NotFound("There is no such session");
      accounts.report(ctx, "session_revoked", user.identity);
      return response.empty();
    },
  );
}
