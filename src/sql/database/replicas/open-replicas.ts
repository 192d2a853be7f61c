import { type Driver, Kysely, PostgresDialect } from "kysely";
import { Replica } from "./replica.ts";
import { ReplicaReads } from "./replica-reads.ts";
import { FRESH_MS, ReplicaSet } from "./replica-set.ts";
import { WritePositions } from "./write-positions.ts";

/** The replicas of a database. */
export interface ReplicaOptions {
  readonly urls: readonly string[];
  readonly maxLagMs: number;
  /** Opens a pool on one of them. */
  readonly open: (url: string) => Kysely<any>;
}

/** Positions are kept until each replica in use has replayed them, however late its last check was. */
export function positionsOf({ maxLagMs }: Pick<ReplicaOptions, "maxLagMs">): WritePositions {
  return new WritePositions(maxLagMs + 2 * FRESH_MS);
}

/** Returns the query builder that reads from the replicas of a primary. */
export function openReplicas(primary: Kysely<any>, options: ReplicaOptions, positions: WritePositions): Kysely<any> {
  const { urls, maxLagMs, open } = options;
  const replicas = urls.map((url) => new Replica(new URL(url).host, () => open(url)));
  return new Kysely({
    dialect: new ReadingDialect(
      () => new ReplicaReads(primary, new ReplicaSet(primary, replicas, maxLagMs), positions),
    ),
  });
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
