import type { PorticoApp } from "../../portico-app.ts";
import type { Database } from "../../sql/database/database.ts";
import type { UserTable } from "../../sql/database/portico-tables.ts";
import type { UserClass } from "../../sql/users/user-model.ts";
import type { Stores } from "../../stores/stores.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import type { CommandContext } from "../process/command-context.ts";
import type { GlobalOptions } from "./global-options.ts";
import { loadConfig } from "./load-config.ts";
import type { PorticoConfig } from "./portico-config.ts";
import { projectError } from "./project-error.ts";

/** The application that a command works on. Each part is opened when a command first asks for it. */
export class Project {
  readonly #options: GlobalOptions;
  readonly #context: CommandContext;
  #config: Promise<PorticoConfig> | null = null;
  #app: Promise<PorticoApp> | null = null;
  #database: Promise<Database> | null = null;
  #stores: Promise<Stores> | null = null;

  constructor(options: GlobalOptions, context: CommandContext) {
    this.#options = options;
    this.#context = context;
  }

  config(): Promise<PorticoConfig> {
    this.#config ??= loadConfig(this.#context.cwd, this.#options.config);
    return this.#config;
  }

  /** The application, which is not started. */
  app(): Promise<PorticoApp> {
    this.#app ??= this.#buildApp();
    return this.#app;
  }

  database(): Promise<Database> {
    this.#database ??= this.#openDatabase();
    return this.#database;
  }

  /** The stores in which the application keeps sessions and API keys. Rejects if that is not certain. */
  async stores(): Promise<Stores> {
    if ((await this.config()).app === undefined) namedStores(this.#options, this.#context.env);
    else await this.#refuseOtherStores();
    return this.#openStores();
  }

  /** The users of the application. Running processes are notified of their changes. */
  async users(): Promise<UserClass<UserTable>> {
    const { app, database, users } = await this.config();
    if (this.#options.database !== undefined && (users !== undefined || (app !== undefined && database !== undefined)))
      throw new UsageError(
        "--database could name another database than that of the application: leave it out. The users in portico.config are used",
      );
    if (users === undefined) {
      const { userModel } = await import("../../sql/users/user-model.ts");
      return userModel(await this.database(), { bus: (await this.#openStores()).bus });
    }
    if ("objects" in users && "database" in (users.objects as object)) return users as unknown as UserClass<UserTable>;
    throw new CommandFailed("the users in portico.config do not come from userModel(), so commands cannot manage them");
  }

  /** Closes everything that was opened. The command is done by then, so a failure has no effect. */
  async close(): Promise<void> {
    const [app, database, stores] = await Promise.all([
      settled(this.#app),
      settled(this.#database),
      settled(this.#stores),
    ]);
    // The application closes its stores.
    if (app !== null) await settled(app.close());
    else if (stores !== null) await settled((await import("../../stores/start-stores.ts")).closeStores(stores));
    // The application may have closed it already, which does no harm.
    if (database !== null) await settled(database.destroy());
  }

  async #buildApp(): Promise<PorticoApp> {
    const { app: build } = await this.config();
    if (build === undefined)
      throw new UsageError("no application: create portico.config.ts with `export default { app: () => app }`");
    let app: unknown;
    try {
      app = await build();
    } catch (error) {
      throw projectError("the application could not be built", error);
    }
    const { PorticoApp } = await import("../../portico-app.ts");
    if (app instanceof PorticoApp) return app;
    throw new CommandFailed(
      "the function `app` in portico.config must return a PorticoApp of the same installation of portico as this command",
    );
  }

  async #openDatabase(): Promise<Database> {
    const { database, users } = await this.config();
    const given = this.#options.database ?? database ?? this.#context.env["DATABASE_URL"];
    if (typeof given === "object") return given as unknown as Database;
    if (given !== undefined && given !== "" && given !== false) {
      const { openDatabase } = await import("../../sql/database/open/open-database.ts");
      return openDatabase(given, { poolSize: 2 });
    }
    if (users !== undefined) return (await this.users()).objects.database;
    throw new UsageError(
      "no database: pass --database <url>, set DATABASE_URL, or add `database` to portico.config.ts",
    );
  }

  #openStores(): Promise<Stores> {
    this.#stores ??= this.config().then(async ({ app }) =>
      app === undefined
        ? givenStores(this.#options, this.#context.env, () => this.database())
        : (await this.app()).stores,
    );
    return this.#stores;
  }

  async #refuseOtherStores(): Promise<void> {
    for (const [name, flag] of STORE_FLAGS)
      if (this.#options[name] !== undefined)
        throw new UsageError(
          `${flag} could name another store than that of the application: leave it out. The stores of the application in portico.config are used`,
        );
    const { MemoryKeyValue } = await import("../../stores/memory-key-value.ts");
    if ((await this.#openStores()).durable instanceof MemoryKeyValue)
      throw new CommandFailed(
        "the application keeps sessions and API keys in the memory of its process, which commands cannot reach. Give it redisStores or sqlStores",
      );
  }
}

const STORE_FLAGS = [
  ["redis", "--redis"],
  ["redisPrefix", "--redis-prefix"],
  ["stores", "--stores"],
] as const;

/** The value, or `null` if it was not asked for or failed. */
async function settled<T>(asked: Promise<T> | null): Promise<T | null> {
  return asked?.catch(() => null) ?? null;
}

/** Where the sessions and API keys are, without an application that says it. A guess could act on the wrong store. */
function namedStores(options: GlobalOptions, env: CommandContext["env"]): "database" | "redis" {
  const { stores } = options;
  const hasRedis = redisUrl(options, env) !== null;
  if (stores !== undefined && stores !== "database" && stores !== "redis")
    throw new UsageError('--stores must be "database" or "redis"');
  if (stores === "redis" && !hasRedis) throw new UsageError("--stores redis requires --redis <url> or REDIS_URL");
  if (stores === undefined && !hasRedis)
    throw new UsageError(
      "no store for sessions and API keys: create portico.config.ts, pass --redis <url> or set REDIS_URL if the application uses redisStores, or pass --stores database if it uses sqlStores",
    );
  return stores ?? "redis";
}

/** The stores of Redis if it is named, or those of the database. */
async function givenStores(
  options: GlobalOptions,
  env: CommandContext["env"],
  database: () => Promise<Database>,
): Promise<Stores> {
  const redis = redisUrl(options, env);
  if (redis === null) return (await import("../../sql/stores/sql-stores.ts")).sqlStores(await database());
  const prefix = options.redisPrefix ?? env["REDIS_PREFIX"];
  const { redisStores } = await import("../../redis/redis-stores.ts");
  return redisStores(redis, prefix === undefined || prefix === "" ? {} : { prefix });
}

function redisUrl(options: GlobalOptions, env: CommandContext["env"]): string | null {
  const url = options.redis ?? env["REDIS_URL"];
  return url === undefined || url === "" || options.stores === "database" ? null : url;
}
