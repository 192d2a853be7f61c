import { memoryStores, type Stores } from "portico";
import type { AccountModel } from "portico/auth";
import { redisStores } from "portico/redis";
import { sqlStores, userModel } from "portico/sql";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { newPrefix, SHARED_URL } from "../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../redis/remove-keys.ts";
import { migratedPlace } from "../../sql/accounts/databases.ts";
import { type AccountHarness, accountHarness, type HarnessOptions } from "./account-harness.ts";
import { memoryUsers } from "./memory-users.ts";

/** Where accounts are kept: users, sessions, counters. */
export interface AccountPlace {
  parts(): { readonly users: AccountModel; readonly stores: Stores };
  /** Everything that is stored, as text. */
  dump(): Promise<string>;
  clear(): Promise<void>;
  remove(): Promise<void>;
}

export type PlaceName = "memory" | "SQLite" | "PostgreSQL and Redis";
export const SERVERS: readonly PlaceName[] = ["SQLite", "PostgreSQL and Redis"];
export const EVERYWHERE: readonly PlaceName[] = ["memory", ...SERVERS];

// Mutation tests ask the quickest place only.
const CHOSEN = process.env["PORTICO_TEST_PLACES"]?.split(",") ?? EVERYWHERE;

/** Declares the tests once for each place. The stores are emptied before each test. */
export function accountsIn(
  names: readonly PlaceName[],
  body: (accounts: (options?: HarnessOptions) => AccountHarness, place: () => AccountPlace) => void,
): void {
  describe.each(names.filter((name) => CHOSEN.includes(name)))("accounts in %s", (name) => {
    let place: AccountPlace;
    beforeAll(async () => {
      place = await PLACES[name]();
    });
    beforeEach(() => place.clear());
    afterAll(() => place?.remove());
    body(
      (options) => accountHarness({ ...place.parts(), ...options }),
      () => place,
    );
  });
}

const TABLES = ["users", "portico_user_permissions", "portico_entries", "portico_counters"] as const;

const PLACES: Readonly<Record<PlaceName, () => Promise<AccountPlace>>> = {
  memory: async () => ({
    parts: () => ({ users: memoryUsers(), stores: memoryStores() }),
    dump: () => Promise.reject(new Error("memory cannot be read from outside")),
    clear: async () => {},
    remove: async () => {},
  }),
  SQLite: async () => {
    const place = await migratedPlace("SQLite");
    const database = place.open();
    return {
      parts: () => ({ users: userModel(database), stores: sqlStores(database) }),
      dump: async () =>
        JSON.stringify(await Promise.all(TABLES.map((table) => database.selectFrom(table).selectAll().execute()))),
      async clear() {
        for (const table of TABLES.toReversed()) await database.deleteFrom(table).execute();
      },
      remove: () => place.remove(),
    };
  },
  "PostgreSQL and Redis": async () => {
    const place = await migratedPlace("PostgreSQL");
    const database = place.open({ poolSize: 10 });
    const prefix = newPrefix();
    const stores = redisStores(SHARED_URL, { prefix });
    return {
      parts: () => ({ users: userModel(database), stores }),
      async dump() {
        const rows = await Promise.all(TABLES.map((table) => database.selectFrom(table).selectAll().execute()));
        return JSON.stringify([rows, await redisEntries(prefix)]);
      },
      async clear() {
        for (const table of TABLES.toReversed()) await database.deleteFrom(table).execute();
        await removeKeys(prefix);
      },
      async remove() {
        await Promise.all([stores.durable.close(), stores.counters.close(), stores.bus.close()]);
        await removeKeys(prefix);
        await place.remove();
      },
    };
  },
};

async function redisEntries(prefix: string): Promise<readonly unknown[]> {
  const client = await createClient({ url: SHARED_URL }).connect();
  const entries: unknown[] = [];
  for await (const keys of client.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 }))
    for (const key of keys) entries.push([key, await client.sendCommand([READ[await client.type(key)] ?? "GET", key])]);
  client.destroy();
  return entries;
}

const READ: Readonly<Record<string, string>> = { hash: "HGETALL", string: "GET", set: "SMEMBERS" };
