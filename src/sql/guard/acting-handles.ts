import type { Kysely, KyselyPlugin } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Caller } from "../../kernel/identity/identity.ts";
import { AS_PORTICO, CallerPlugin, SystemPlugin, userCaller } from "./guard-caller.ts";
import { guardOfHandle } from "./guarded-dialect.ts";

/** The handles of a guarded database that don't act as the caller of the operation. */
export interface ActingHandles<D> {
  as(user: Caller): D;
  asSystem(reason: string): D;
}

/** Returns the methods `as` and `asSystem` of a database or a transaction. */
export function actingHandles<D>(database: Kysely<any>, withPlugin: (plugin: KyselyPlugin) => D): ActingHandles<D> {
  const guarded = (method: string): NonNullable<ReturnType<typeof guardOfHandle>> => {
    const guard = guardOfHandle(database);
    if (guard === null) throw new ConfigurationError(`database.${method}`, "requires a database with the option guard");
    return guard;
  };
  return {
    as(user) {
      guarded("as");
      if (typeof (user as Partial<Caller> | null)?.isAuthenticated !== "boolean")
        throw new ConfigurationError("database.as", "a user", user);
      return withPlugin(new CallerPlugin(userCaller(user)));
    },
    asSystem(reason) {
      const { reasons } = guarded("asSystem");
      if (typeof reason !== "string" || reason.trim() === "")
        throw new ConfigurationError("database.asSystem", "a reason in words", reason);
      reasons.add(reason);
      return withPlugin(new SystemPlugin());
    },
  };
}

/** Returns a handle for the statements of Portico itself, which no rule of the application concerns. */
export function asPortico<K extends Kysely<any>>(database: K): K {
  return guardOfHandle(database) === null ? database : (database.withPlugin(AS_PORTICO) as K);
}
