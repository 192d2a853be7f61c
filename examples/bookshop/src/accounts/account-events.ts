import { Router } from "portico";
import { CursorPagination } from "portico/pagination";
import { type AccountLog, accountLog } from "portico/sql";
import { database } from "../database.ts";
import { whoMay } from "./who-may.ts";

/** Every registration, sign-in and change of an account. The shop only adds to it. */
export const accountEvents: AccountLog = accountLog(database);

/** `GET /account-events`: what happened to all accounts, newest first, for admins. */
export function accountEventRoutes(): Router {
  const newestFirst = new CursorPagination({ order: [["at", "desc"]] });
  const router = new Router({ auth: whoMay("read:accounts") });
  router.get("", { summary: "The account events", tags: ["accounts"] }, ({ response }) =>
    response.paginate(accountEvents.events(), { strategy: newestFirst }),
  );
  return router;
}
