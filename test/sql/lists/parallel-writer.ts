import { setTimeout } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { Kysely } from "kysely";
import { dialectOf, type Engine, type EngineName } from "../../../lab/servers/engines.ts";

/** The continuous work of a writer. */
interface Orders {
  readonly table: string;
  /** The rows that only this writer may change, delete and restore. */
  readonly ids: readonly number[];
  /** The values that it writes, without their ids. */
  readonly values: readonly Record<string, unknown>[];
}

/** Another connection in a separate thread, which inserts, updates and deletes during the test. */
export class ParallelWriter {
  readonly #worker: Worker;
  readonly #writes: Int32Array;

  constructor({ name, address }: Engine) {
    const shared = new SharedArrayBuffer(4);
    this.#writes = new Int32Array(shared);
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { name, address, shared } satisfies WriterData });
  }

  /** The number of writes so far. */
  get writes(): number {
    return Atomics.load(this.#writes, 0);
  }

  /** Starts writing. Resolves after the first write. */
  start(orders: Orders): Promise<void> {
    return this.#tell(orders);
  }

  /** Resolves when writing has stopped. */
  stop(): Promise<void> {
    return this.#tell(null);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #tell(orders: Orders | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#worker.off("message", done).off("error", reject);
        resolve();
      };
      this.#worker.once("message", done).once("error", reject);
      this.#worker.postMessage(orders, []);
    });
  }
}

interface WriterData {
  readonly name: EngineName;
  readonly address: string;
  readonly shared: SharedArrayBuffer;
}

const data = workerData as WriterData | null;
if (parentPort !== null && data?.shared instanceof SharedArrayBuffer) {
  const port = parentPort;
  const { name, address, shared } = data;
  const writes = new Int32Array(shared);
  const database = new Kysely<any>({ dialect: dialectOf(name, address) });
  let orders: Orders | null = null;
  port.on("message", (next: Orders | null) => {
    orders = next;
  });
  for (let turn = 0, told: Orders | null = null; ; turn++) {
    const current: Orders | null = orders;
    if (current !== null) {
      await write(database, current, turn);
      Atomics.add(writes, 0, 1);
    }
    if (current !== told) port.postMessage(null);
    told = current;
    // Time for the message that stops it.
    await setTimeout(current === null ? 2 : 0);
  }
}

async function write(database: Kysely<any>, { table, ids, values }: Orders, turn: number): Promise<void> {
  // Every row and every value gets its turn, in an order that no list has.
  const pick = <T>(list: readonly T[], step: number): T => list[(turn * step) % list.length] as T;
  const id = pick(ids, 7_919);
  const row = pick(values, 104_729);
  if (turn % 2 === 0) {
    const { numUpdatedRows } = await database.updateTable(table).set(row).where("id", "=", id).executeTakeFirst();
    // MariaDB counts rows that were changed, not rows that were found.
    const isThere =
      numUpdatedRows > 0n || (await database.selectFrom(table).select("id").where("id", "=", id).execute()).length > 0;
    if (!isThere)
      await database
        .insertInto(table)
        .values({ id, ...row })
        .execute();
  } else {
    await database.deleteFrom(table).where("id", "=", id).execute();
  }
}
