import { MemoryPubSub } from "../../stores/memory-pub-sub.ts";
import type { Stores } from "../../stores/stores.ts";
import type { Database } from "../database/database.ts";
import { asPortico } from "../guard/acting-handles.ts";
import { outbox } from "../outbox/outbox.ts";
import { PostgresPubSub } from "./postgres-pub-sub.ts";
import { SqlCounter } from "./sql-counter.ts";
import { SqlKeyValue } from "./sql-key-value.ts";

/**
 * Returns the three roles in a database that `migrate` has prepared: entries and counts in tables, timed by the
 * database's clock.
 *
 * On PostgreSQL, events reach every process through `NOTIFY`, over a separate connection outside the pool. On SQLite,
 * they reach only the subscribers in this process, because SQLite is for a single process.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { openDatabase, sqlStores } from "portico/sql";
 *
 * const database = openDatabase("sqlite:shop.db");
 * const app = new PorticoApp({ stores: sqlStores(database) });
 * ```
 */
export function sqlStores(database: Database): Stores {
  const bare = asPortico(database.withoutPlugins());
  return {
    durable: new SqlKeyValue(bare),
    counters: new SqlCounter(bare),
    bus: outbox(bare, bare.engine === "postgres" ? new PostgresPubSub(bare) : new MemoryPubSub()),
  };
}
