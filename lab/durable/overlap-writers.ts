import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { type Database, sqlStores } from "../../src/sql/index.ts";
import { EventTable } from "../../src/sql/outbox/event-table.ts";
import { outboxOf } from "../../src/stores/outbox.ts";
import { topic } from "../../src/stores/pub-sub.ts";

interface OverlapOptions {
  readonly database: Database<any>;
  /** The same database, for the connections of the writers. */
  readonly url: string;
  readonly writers: number;
  readonly commits: number;
}

/** The rows that writers wait for. */
const TOPICS = 8;
const names = Array.from({ length: TOPICS }, (_, at) => topic<number>(`durable.overlap.${at}`, { keep: "1h" }));
/** After the last commit. */
const ARRIVAL_MS = 15_000;

/**
 * Writers with overlapping transactions that take 0 to 20 ms, one in 500 of them up to five seconds. A tenth are rolled back. Half of
 * them have their transaction number long before they wait for the row of their topic. Returns how subscribers differ from the rows.
 */
export async function overlapWriters({ database, url, writers, commits }: OverlapOptions): Promise<readonly string[]> {
  const faults: string[] = [];
  const pool = new Pool({ connectionString: url, max: writers });
  await pool.query("create table overlap_rows (topic int primary key, n int not null)");
  await pool.query("insert into overlap_rows select at, 0 from generate_series(0, $1::int - 1) as at", [TOPICS]);
  const { bus } = sqlStores(database);
  const table = new EventTable(database);
  const end = new AbortController();
  const received = names.map(() => 0);
  const following = names.map(async (name, at) => {
    for await (const n of bus.subscribe(name, { signal: end.signal })) {
      if (n !== (received[at] ?? 0) + 1) faults.push(`topic ${at}: ${n} after ${received[at]}`);
      received[at] = n;
    }
  });
  await bus.settled();
  let left = commits;
  const write = async (random: () => number): Promise<void> => {
    const client = await pool.connect();
    const run = async (text: string, parameters: readonly unknown[]): Promise<number> =>
      (await client.query(text, [...parameters])).rows.length;
    while (left-- > 0) {
      const at = Math.floor(random() * TOPICS);
      const ms = random() < 0.002 ? random() * 5_000 : random() * 20;
      await client.query("begin");
      if (random() < 0.5) await client.query("select pg_current_xact_id()");
      await sleep(ms / 2);
      const { rows } = await client.query<{ n: number }>(
        "update overlap_rows set n = n + 1 where topic = $1 returning n",
        [at],
      );
      if (ms < 20) await sleep(ms / 2);
      await table.write(run, [{ topic: names[at]?.name ?? "", keep: "1h", text: String(rows[0]?.n) }]);
      await client.query(random() < 0.1 ? "rollback" : "commit");
      outboxOf(bus)?.ring();
    }
    client.release();
  };
  await Promise.all(Array.from({ length: writers }, (_, seed) => write(randomOf(seed + 1))));
  const { rows } = await pool.query<{ n: number }>("select n from overlap_rows order by topic");
  const isComplete = (): boolean => rows.every(({ n }, at) => n === received[at]);
  for (const begun = performance.now(); !isComplete() && performance.now() - begun < ARRIVAL_MS; ) await sleep(50);
  for (const [at, { n }] of rows.entries())
    if (received[at] !== n) faults.push(`topic ${at}: ${received[at]} of ${n} events arrived`);
  end.abort();
  await Promise.all(following);
  await bus.close?.();
  await pool.end();
  const committed = rows.reduce((sum, { n }) => sum + n, 0);
  console.log(
    `${writers} writers: ${committed} committed events in ${TOPICS} topics, ${faults.length} skipped or reordered`,
  );
  return faults;
}

/** A fixed sequence of numbers below 1. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + 0x9e_37_79_b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
