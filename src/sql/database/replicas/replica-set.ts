import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { Logger } from "../../../core/logger.ts";
import { outsideRequest } from "../../../core/outside-request.ts";
import type { Figure, Part } from "../../../core/parts/parts.ts";
import { inBackground } from "../../../core/work/in-background.ts";
import { withTimeout } from "../../../core/work/with-timeout.ts";
import { withDeadline } from "../with-deadline.ts";
import type { Replica } from "./replica.ts";
import { writtenPosition } from "./wal-position.ts";

/** How often the positions of the servers are read. */
const CHECK_MS = 1_000;
const TIMEOUT_MS = 2_000;
/** A replica whose last check is older than this is left out. */
export const FRESH_MS = 5_000;

/** How often an examination checks a replica before it reports it. */
const EXAMINATIONS = 3;

/** The position of the primary at a time on the monotonic clock. */
interface Sample {
  readonly at: number;
  readonly bytes: bigint;
}

/** The result of an examination. */
export interface ExaminedReplica {
  /** The host and port. */
  readonly name: string;
  /** Why it cannot be used; `null` if it can. */
  readonly problem: unknown;
}

/** The replicas of a database, of which those are used that respond and are not too far behind. */
export class ReplicaSet implements Part {
  /** A connection to the primary for checks, which do not wait for busy ones. */
  readonly #watch: Kysely<any>;
  readonly #replicas: readonly Replica[];
  readonly #maxLagMs: number;
  /** The last ones, from the newest that is older than the limit. */
  readonly #samples: Sample[] = [];
  #cluster: string | null = null;
  isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #turn = 0;

  /** @param watch a pool of one connection to the primary */
  constructor(watch: Kysely<any>, replicas: readonly Replica[], maxLagMs: number) {
    this.#watch = watch;
    this.#replicas = replicas;
    this.#maxLagMs = maxLagMs;
  }

  /** The identifier of the primary and its replicas; `null` until the primary has responded. */
  get cluster(): string | null {
    return this.#cluster;
  }

  /** Starts to check the replicas, which are used as soon as a check succeeded. */
  start(log: Logger | null): void {
    if (log !== null) for (const replica of this.#replicas) replica.log = log;
    if (this.#timer !== undefined) return;
    this.#timer = outsideRequest(() => setInterval(() => inBackground(this.#check()), CHECK_MS).unref());
    outsideRequest(() => inBackground(this.#check()));
  }

  *figures(): Iterable<Figure> {
    const newest = this.#samples.at(-1);
    for (const replica of this.#replicas) {
      const { name, replayed } = replica;
      yield { series: "portico_db_replica_up", labels: [name], value: this.has(replica, 0n) ? 1 : 0 };
      if (newest === undefined || replayed === null) continue;
      // The primary is read last, so a replica can be ahead of its sample.
      const behind = Math.max(0, Number(newest.bytes - replayed.bytes));
      yield { series: "portico_db_replica_lag_bytes", labels: [name], value: behind };
    }
  }

  /** Whether any replica can be used. */
  get isUsable(): boolean {
    return this.#replicas.some((replica) => this.has(replica, 0n));
  }

  /** Returns the next replica that has replayed the position, or `null` if there is none. */
  pick(position: bigint): Replica | null {
    for (let count = 0; count < this.#replicas.length; count++) {
      const replica = this.#replicas[this.#turn++ % this.#replicas.length] as Replica;
      if (this.has(replica, position)) return replica;
    }
    return null;
  }

  /** Whether the replica is in use and has replayed the position. */
  has({ replayed, checkedAt }: Replica, position: bigint): boolean {
    return replayed !== null && replayed.bytes >= position && performance.now() - checkedAt < FRESH_MS;
  }

  /** Checks the replicas, up to three times. Returns each of them, with the reason if it cannot be used. */
  async examine(): Promise<readonly ExaminedReplica[]> {
    for (let count = 1; count <= EXAMINATIONS; count++) {
      await this.#check();
      // A write between the checks of both servers leaves a replica behind the first sample for a moment.
      if (count === EXAMINATIONS || this.#replicas.every((replica) => this.has(replica, 0n))) break;
      await sleep(CHECK_MS);
    }
    return this.#replicas.map((replica) => {
      return { name: replica.name, problem: this.has(replica, 0n) ? null : replica.problem };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.isClosed = true;
    await Promise.all([this.#watch.destroy(), ...this.#replicas.map((replica) => replica.close())]);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const found = await Promise.all(this.#replicas.map((replica) => replica.check()));
      // After the replicas: one that is ahead of the primary then has another history.
      const newest = await withTimeout(TIMEOUT_MS, this.#sample()).catch(() => null);
      found.forEach((result, index) => this.#judge(this.#replicas[index] as Replica, result, newest));
    } finally {
      this.#isChecking = false;
    }
  }

  /** Returns the position of the primary. */
  async #sample(): Promise<bigint> {
    const at = performance.now();
    const { cluster, bytes } = await withDeadline(TIMEOUT_MS, () =>
      writtenPosition((query) => this.#watch.executeQuery(query)),
    );
    this.#cluster = cluster;
    this.#samples.push({ at, bytes });
    while ((this.#samples[1]?.at ?? at) <= at - this.#maxLagMs) this.#samples.shift();
    return bytes;
  }

  #judge(replica: Replica, result: Awaited<ReturnType<Replica["check"]>>, newest: bigint | null): void {
    if ("problem" in result) return replica.giveUp(result.problem);
    const [oldest] = this.#samples;
    const { cluster, bytes } = result.position;
    if (oldest === undefined) replica.leaveOut("the primary has not responded yet");
    else if (cluster !== this.#cluster) replica.giveUp("it belongs to another primary");
    else if (newest !== null && bytes > newest) replica.giveUp("it is ahead of the primary");
    else if (bytes < oldest.bytes) replica.leaveOut("it is too far behind the primary");
    else replica.use(result.position);
  }
}
