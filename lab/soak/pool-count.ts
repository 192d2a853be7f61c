import { Pool } from "pg";
import { Permits, type Release } from "../../src/sql/database/permits.ts";

/** The pool of connections to PostgreSQL, and the permits of transactions and savepoints. */
export interface PoolFigures {
  readonly connections: number;
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  readonly permits: number;
}

/** Counts what `openDatabase` does not publish. It has to exist before the first statement. */
export class PoolCount {
  readonly #pools = new Set<Pool>();
  #permits = 0;

  constructor() {
    const pools = this.#pools;
    const connect = Reflect.get(Pool.prototype, "connect") as (...args: unknown[]) => unknown;
    Pool.prototype.connect = function (this: Pool, ...args: unknown[]): never {
      pools.add(this);
      return Reflect.apply(connect, this, args) as never;
    };
    const held = (change: number): void => void (this.#permits += change);
    const acquire: (this: Permits) => Promise<Release> = Reflect.get(Permits.prototype, "acquire");
    Permits.prototype.acquire = async function (this: Permits) {
      const release = await acquire.call(this);
      held(1);
      let isHeld = true;
      return () => {
        if (isHeld) held(-1);
        isHeld = false;
        release();
      };
    };
  }

  figures(): PoolFigures {
    const sum = (count: (pool: Pool) => number): number =>
      [...this.#pools].reduce((total, pool) => total + count(pool), 0);
    return {
      connections: sum(({ totalCount }) => totalCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
      permits: this.#permits,
    };
  }
}
