import type { Selectable } from "kysely";
import { PasswordHasher } from "../../auth/passwords/password-hasher.ts";
import type { RegisteredAs } from "../../auth/users/registered-as.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { listOf, optional, resolveOptions, seconds, thing } from "../../core/resolve-options.ts";
import type { PubSub } from "../../stores/pub-sub.ts";
import { type Database, PooledDatabase } from "../database/database.ts";
import type { PorticoTables } from "../migrations/portico-tables.ts";
import { ApplicationColumns } from "./application-columns.ts";
import { SqlUserManager } from "./sql-user-manager.ts";
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
  /** Hashes passwords, and says which older schemes are verified. @default new PasswordHasher() */
  readonly passwords?: PasswordHasher;
  /**
   * How long `loadUser` may answer from the memory of this process, in seconds. What this process changes is seen at once;
   * what others change, at once with `bus` and else when the time is over. @default 0, which is never
   */
  readonly cacheSeconds?: number;
  /** Roles that every new user gets, written with the user: both, or neither. They are defined by then. @default none */
  readonly roles?: readonly string[];
  /** Where changes are told to other processes: the `bus` of the application's stores. @default none */
  readonly bus?: PubSub;
}

/** A user of the table `T`: its extra columns are properties. */
export type UserRow<T> = UserRecord & Selectable<ExtraColumns<T>>;

/** The class that `userModel()` gives; `T` is the table, extra columns included. */
export interface UserClass<T> {
  new (row: StoredUser<T>): UserRow<T>;
  /** The user; `null` when there is none, or when they are disabled. */
  loadUser<U>(this: new (row: never) => U, identity: string): Promise<U | null>;
  readonly objects: SqlUserManager<RegisteredAs<UserRow<T>>, NewExtraColumns<T>, ChangedExtraColumns<T>>;
}

/**
 * The built-in user, bound to a database that `migrate` has prepared: use it as it is, or extend it. Columns that you add to the
 * table `users` by a migration of your own, and to its type, are properties of each user and arguments of `createUser` and `update`.
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
    throw new ConfigurationError("userModel.database", "must be what openDatabase gave");
  const { passwords, cacheSeconds, roles, bus } = resolveOptions("userModel", options, rules);
  const rows = new UserRows(database);
  const closing = database instanceof PooledDatabase ? database.closing : undefined;
  const cache = new UserCache({ seconds: cacheSeconds, bus, closing });
  const columns = new ApplicationColumns();
  const shared = { database, rows, cache, columns, bus, roles, passwords: passwords ?? new PasswordHasher() };
  const managers = new WeakMap<object, SqlUserManager<UserRecord, object>>();

  class User extends UserRecord {
    static get objects(): SqlUserManager<UserRecord, object> {
      // A subclass has a manager of its own, which makes users of that class.
      const manager = managers.get(this) ?? new SqlUserManager<UserRecord, object>({ ...shared, model: this });
      managers.set(this, manager);
      return manager;
    }

    static async loadUser(identity: string): Promise<UserRecord | null> {
      const row = await cache.get(identity, async () => (await rows.find("id", identity))?.user ?? null);
      return row === null || row.disabled_at !== null ? null : new this(row);
    }
  }
  return User as unknown as UserClass<DB["users"]>;
}

const rules = {
  passwords: thing<PasswordHasher>("a PasswordHasher", (value) => value instanceof PasswordHasher),
  cacheSeconds: optional(seconds, 0),
  roles: optional(
    listOf<string>("a list of names of roles", (name) => typeof name === "string" && name !== ""),
    [],
  ),
  bus: thing<PubSub>(
    "a PubSub, such as stores.bus",
    (value) => typeof (value as PubSub | null)?.publish === "function",
  ),
};
