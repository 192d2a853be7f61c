import { type Driver, Kysely, PostgresDialect } from "kysely";
import type { Guard } from "../../guard/guard.ts";
import { GuardedDialect } from "../../guard/guarded-dialect.ts";
import { Replica } from "./replica.ts";
import { ReplicaReads } from "./replica-reads.ts";
import { FRESH_MS, ReplicaSet } from "./replica-set.ts";
import { WritePositions } from "./write-positions.ts";

/** The replicas of a database. */
export interface ReplicaOptions {
  readonly primaryUrl: string;
  readonly urls: readonly string[];
  readonly maxLagMs: number;
  /** Opens a pool for the statements of the application. */
  readonly open: (url: string) => Kysely<any>;
  /** Opens a pool of one connection, whose statements are not logged. */
  readonly watch: (url: string) => Kysely<any>;
  readonly guard: Guard | null;
}

/** Positions are kept until each replica in use has replayed them, however late its last check was. */
export function positionsOf({ maxLagMs }: Pick<ReplicaOptions, "maxLagMs">): WritePositions {
  return new WritePositions(maxLagMs + 2 * FRESH_MS);
}

/** The opened replicas of a primary. */
export interface Replicas {
  /** The query builder that reads from them. */
  readonly reader: Kysely<any>;
  readonly set: ReplicaSet;
}

export function openReplicas(primary: Kysely<any>, options: ReplicaOptions, positions: WritePositions): Replicas {
  const { primaryUrl, urls, maxLagMs, open, watch, guard } = options;
  const replicas = urls.map((url) => new Replica(new URL(url).host, watch(url), () => open(url)));
  const set = new ReplicaSet(watch(primaryUrl), replicas, maxLagMs);
  const reading = new ReadingDialect(() => new ReplicaReads(primary, set, positions));
  const dialect = guard === null ? reading : new GuardedDialect(reading, guard);
  return { reader: new Kysely({ dialect }), set };
}

class ReadingDialect extends PostgresDialect {
  readonly #driver: () => Driver;

  constructor(driver: () => Driver) {
    super({ pool: () => Promise.reject(new Error("the driver has no pool")) });
    this.#driver = driver;
  }

  override createDriver(): Driver {
    return this.#driver();
  }
}
