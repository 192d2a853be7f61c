import type { Router } from "../../../http/routing/router.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";
import { NotFound } from "../../../kernel/exceptions/http-exception.ts";
import type { AccountHolder } from "../account-base.ts";
import type { Accounts } from "../ownership/accounts.ts";
import { byPerson } from "../ownership/by-person.ts";
import { Account, accountOf } from "../schemas/account.ts";
import { describe } from "../schemas/describe.ts";
import { records } from "../schemas/record-schema.ts";

const Sessions = records(
  {
    id: "string",
    current: "boolean",
    device: "string",
    address: "string",
    created_at: "date",
    last_seen_at: "date",
    expires_at: "date",
  },
  "AccountSession",
);

/** `GET /me`: returns the signed-in user. */
export function meRoute(router: Router): void {
  router.get(
    "/me",
    { ...describe("accountMe", "Get the signed-in user"), auth: useAuth(), response: { 200: Account } },
    ({ ctx, user, response }) => {
      const { impersonator } = ctx;
      return response.json({
        ...accountOf(user as AccountHolder),
        ...(impersonator === null ? {} : { impersonator }),
      });
    },
  );
}

/** `GET /sessions` and `DELETE /sessions/:id`: list and sign out devices. */
export function sessionRoutes(router: Router, accounts: Accounts): void {
  router.get(
    "/sessions",
    {
      ...describe("accountListSessions", "List the signed-in devices"),
      auth: byPerson,
      response: { 200: Sessions },
    },
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
    {
      ...describe("accountRevokeSession", "Sign a device out", { 404: "The user has no session with this id" }),
      auth: byPerson,
      response: { 204: null },
    },
    async ({ ctx, request, path, user, response }) => {
      if (!(await request.sessions.revoke(path.id))) throw new NotFound("Session not found");
      accounts.report(ctx, "session_revoked", user.identity);
      return response.empty();
    },
  );
}
