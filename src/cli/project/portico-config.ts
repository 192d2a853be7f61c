import type { AttackOptions } from "../../audit/attack/attack-options.ts";
import type { UserModel } from "../../auth/users/user-model.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { PorticoApp } from "../../portico-app.ts";

/**
 * The default export of `portico.config.ts`, which describes your application to the `portico` command. All parts are
 * optional. A command fails with a sentence that names the part it needs.
 *
 * @example
 * ```ts
 * // portico.config.ts
 * import { PorticoApp, type PorticoConfig } from "portico";
 * import { openDatabase, sqlStores, userModel } from "portico/sql";
 *
 * const database = openDatabase(process.env["DATABASE_URL"] ?? "sqlite:shop.db");
 *
 * export default {
 *   app: () => new PorticoApp({ stores: sqlStores(database) }).get("/hello", () => "hello"),
 *   database,
 *   users: userModel(database),
 *   roles: { staff: ["read:orders", "ship:orders"] },
 * } satisfies PorticoConfig;
 * ```
 */
export interface PorticoConfig {
  /**
   * Returns the application without starting it. It is called only by commands that need the application or its stores.
   * Import a large application inside this function, so that the other commands start faster.
   */
  readonly app?: () => MaybePromise<PorticoApp>;
  /**
   * The database, as `openDatabase` returned it, or its URL. `false` says that the application has none. @default the database
   * of `users`, or the environment variable `DATABASE_URL`
   */
  readonly database?: string | CloseableDatabase | false | undefined;
  /** The class from `userModel()` whose users the commands manage. @default `userModel(database)` */
  readonly users?: UserModel<any>;
  /** The migrations of your application, in order. They run after Portico's. @default [] */
  readonly migrations?: readonly NamedMigration[];
  /**
   * The roles of your application with their permissions. `migrate up` defines them after the migrations, and changes
   * those that differ. It deletes no role. @default {}
   */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether `migrate` creates the tables of `userModel`. Set it to `false` if your table of users is your own. @default
   * true
   */
  readonly userTables?: boolean;
  /** Options for `portico audit --attack`: callers with credentials of custom backends, and places to leave out. */
  readonly attack?: AttackOptions;
}

/** The result of `openDatabase`. Described here, because an application without a database has no `kysely`. */
export interface CloseableDatabase {
  readonly engine: string;
  destroy(): Promise<void>;
}

/** A `Migration` of `portico/sql`. Described here, because an application without a database has no `kysely`. */
export interface NamedMigration {
  readonly name: string;
  up(database: never, engine: never): Promise<void>;
  down(database: never): Promise<void>;
}
