import type { Selectable } from "kysely";
import { PasswordHasher } from "../../auth/passwords/password-hasher.ts";
import type { RegisteredAs } from "../../auth/users/registered-as.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, resolveOptions, seconds, textList, thing, withMethod } from "../../core/resolve-options.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import type { Database } from "../database/database.ts";
import { poolOf } from "../database/open/pooled-database.ts";
import type { PorticoTables } from "../database/portico-tables.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { ApplicationColumns } from "./application-columns.ts";
import { SQLUserManager } from "./sql-user-manager.ts";
import { UserCache } from "./user-cache.ts";
import {
  type ChangedExtraColumns,
  type ExtraColumns,
  type NewExtraColumns,
  type StoredUser,
  UserRecord,
} from "./user-record.ts";
import { UserRows } from "./user-rows.ts";

export interface UserModelOptions {
  /** Hashes passwords and verifies the older schemes that it accepts. @default new PasswordHasher() */
  readonly passwords?: PasswordHasher;
  /**
   * How long `loadUser` may return a user from the memory of this process, in seconds; 0 disables the cache. Changes
   * made by this process are visible immediately. Changes made by other processes are visible when they are published
   * on `bus`, and otherwise when the entry expires. @default 5 with a `bus` that connects processes, else 0
   */
  readonly cacheSeconds?: number;
  /** Roles of every new user, inserted together with the user. They must be defined by then. @default none */
  readonly roles?: readonly string[];
  /** Where changes are published to other processes: the `bus` of the application's stores. @default none */
  readonly bus?: PubSub;
}

/** A user of the table `T`, with its extra columns as properties. */
export type UserRow<T> = UserRecord & Selectable<ExtraColumns<T>>;

/** The class that `userModel()` returns. `T` is the table with its extra columns. */
export interface UserClass<T> {
  new (row: StoredUser<T>): UserRow<T>;
  /** Returns the user, or `null` if there is none or they are disabled. */
  loadUser<U>(this: new (row: never) => U, identity: string): Promise<U | null>;
  readonly objects: SQLUserManager<RegisteredAs<UserRow<T>>, NewExtraColumns<T>, ChangedExtraColumns<T>>;
}

/**
 * The built-in user, bound to a database that `migrate` has prepared. Use it as it is, or extend it. Columns that you
 * add to the table `users` with your own migration, and to its type, are properties of each user and arguments of
 * `createUser` and `update`.
 *
 * @example
 * ```ts
 * import { openDatabase, userModel } from "portico/sql";
 *
 * const database = openDatabase("sqlite:shop.db");
 * export class User extends userModel(database) {}
 *
 * const ann = await User.objects.createUser({ email: "ann@shop.example", username: "ann", password: "correct horse" });
 * await User.objects.grant(ann, { permissions: ["read:books"] });
 * ```
 */
export function userModel<DB extends PorticoTables>(
  database: Database<DB>,
  options: UserModelOptions = {},
): UserClass<DB["users"]> {
  if (database?.engine === undefined)
    throw new ConfigurationError("userModel.database", "must be the result of openDatabase");
  const { passwords, cacheSeconds, roles, bus } = resolveOptions("userModel", options, rules);
  // The columns have their own names here, whatever the application calls them.
  const bare: Database = asPortico(database.withoutPlugins());
  const rows = new UserRows(bare);
  const closing = poolOf(bare)?.closing;
  const cache = new UserCache({ seconds: cacheSeconds ?? defaultSeconds(bus), bus, closing });
  const columns = new ApplicationColumns();
  const shared = { database: bare, rows, cache, columns, bus, roles, passwords: passwords ?? new PasswordHasher() };
  const managers = new WeakMap<object, SQLUserManager<UserRecord, object>>();

  const pendingMigrations = async (): Promise<readonly string[]> => {
    // Loaded here, because an application that migrates elsewhere needs it only once.
    const { migrationStatus } = await import("../migrations/migrate.ts");
    const found = await migrationStatus(bare);
    return found.flatMap(({ name, appliedAt }) => (appliedAt === null ? [name] : []));
  };

  class User extends UserRecord {
    static get objects(): SQLUserManager<UserRecord, object> {
      // A subclass gets its own manager, which creates users of that class.
      const manager = managers.get(this) ?? new SQLUserManager<UserRecord, object>({ ...shared, model: this });
      managers.set(this, manager);
      return manager;
    }

    /** Called at startup in production, by way of the authentication middleware. */
    static readonly "~pendingMigrations" = pendingMigrations;

    static async loadUser(identity: string): Promise<UserRecord | null> {
      const row = await cache.get(identity, async () => (await rows.find("id", identity))?.user ?? null);
      return row === null || row.disabled_at !== null ? null : new this(row);
    }
  }
  return User as unknown as UserClass<DB["users"]>;
}

/** A change that another process makes must be published, unless the application accepts that it is seen late. */
function defaultSeconds(bus: PubSub | undefined): number {
  return bus?.isConnected === undefined ? 0 : SHARED_CACHE_SECONDS;
}

/** The longest time for which a change that is not published, such as one in `psql`, has no effect. */
const SHARED_CACHE_SECONDS = 5;

const rules = {
  passwords: thing<PasswordHasher>("a PasswordHasher", (value) => value instanceof PasswordHasher),
  cacheSeconds: seconds,
  roles: optional(textList("a list of role names"), []),
  bus: withMethod<PubSub>("a PubSub, such as stores.bus", "publish"),
};
