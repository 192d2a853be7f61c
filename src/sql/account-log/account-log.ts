import { randomUUID } from "node:crypto";
import type { AccountEvent, AccountEventHook, AccountEventKind } from "../../auth/accounts/account-event.ts";
import type { Database } from "../database/database.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { type TableHandler, tableHandler } from "../lists/table-handler.ts";

/** A row of the account log. */
export interface AccountLogEntry {
  readonly id: string;
  /** A `Date` in PostgreSQL, ISO 8601 text in SQLite. */
  readonly at: Date | string;
  readonly kind: AccountEventKind;
  readonly outcome: AccountEvent["outcome"];
  readonly user_id: string | null;
  readonly actor_id: string | null;
  readonly address: string;
  readonly device: string;
}

/** The account events of an application, in the table `account_log`. */
export interface AccountLog {
  /** Adds an event: pass it to `onEvent` of `authentication` or `accountRoutes`. */
  readonly record: AccountEventHook;
  /** The events, for `response.paginate` or a connection: of all accounts, or of one. */
  events(user?: string): TableHandler<AccountLogEntry>;
}

/**
 * Keeps every account event in the table `account_log`, which `accountLogMigration` creates. It only ever inserts and
 * selects, so the application's database role needs neither `update` nor `delete` on the table.
 *
 * @example
 * ```ts
 * import { env, PorticoApp } from "portico";
 * import { authentication, useAuth } from "portico/auth";
 * import { CursorPagination } from "portico/pagination";
 * import { accountLog, openDatabase, userModel } from "portico/sql";
 *
 * const database = openDatabase(env("DATABASE_URL"));
 * const log = accountLog(database);
 *
 * const app = new PorticoApp({ publicUrl: "https://shop.example" });
 * app.use(
 *   authentication({
 *     userModel: userModel(database),
 *     secret: env("SECRET"),
 *     audience: "bookshop",
 *     onEvent: log.record,
 *   }),
 * );
 * const newest = new CursorPagination({ order: [["at", "desc"]] });
 * app.get("/my-events", { auth: useAuth() }, ({ user, response }) =>
 *   response.paginate(log.events(user.identity), { strategy: newest }),
 * );
 * ```
 */
export function accountLog(database: Database): AccountLog {
  // The columns have these names in the database, whatever plugins rename.
  const bare = asPortico(database.withoutPlugins()) as unknown as Database<{ account_log: AccountLogEntry }>;
  const record = async ({ at, user, actor, ...event }: AccountEvent): Promise<void> => {
    const row = { ...event, id: randomUUID(), at: at.toISOString(), user_id: user, actor_id: actor };
    await bare.insertInto("account_log").values(row).execute();
  };
  return {
    record: Object.assign(record, { check: () => insertNothing(bare) }),
    events(user) {
      const all = bare.selectFrom("account_log").selectAll();
      return tableHandler(user === undefined ? all : all.where("user_id", "=", user));
    },
  };
}

const PROBE = {
  kind: "login_failed",
  outcome: "failure",
  user_id: null,
  actor_id: null,
  address: "",
  device: "",
} as const;

/** Rejects while the table rejects entries. A rolled-back one also runs triggers and constraints, which no query would. */
async function insertNothing(database: Database<{ account_log: AccountLogEntry }>): Promise<void> {
  const trx = await database.begin();
  try {
    await trx
      .insertInto("account_log")
      .values({ ...PROBE, id: randomUUID(), at: new Date().toISOString() })
      .execute();
  } finally {
    await trx.end("failure");
  }
}
