import { randomBytes } from "node:crypto";
import { Pool } from "pg";
import { migrate, openDatabase } from "../../src/sql/index.ts";
import { EventTable } from "../../src/sql/outbox/event-table.ts";
import { ownSchema } from "../servers/own-schema.ts";

const ROUNDS = 5;
const WRITERS: readonly number[] = [1, 16, 64];
const ROUND_MS = 1_500;

/** The last statement of a transaction, after the one that all of them have. */
type Kind = "none" | "insert" | "event";

/**
 * What an event of a durable topic costs a transaction that inserts a row: commits per second against the same transaction with one
 * more plain insert, and against none. The kinds take turns within a run, and the median of the rounds counts.
 */
export async function run(): Promise<void> {
  const schema = await ownSchema(`outbox_${randomBytes(6).toString("hex")}`);
  const database = openDatabase<any>(schema.url);
  try {
    await migrate(database, "up");
    const table = new EventTable(database);
    await table.id();
    console.log("writers  transaction against one more insert  against none  insert against none");
    for (const writers of WRITERS) {
      const pool = new Pool({ connectionString: schema.url, max: writers });
      await pool.query("create table if not exists rows (id bigserial primary key, text text not null)");
      await pool.query(
        "create table if not exists plain (id bigserial primary key, topic text not null, text text not null, at timestamptz not null default now())",
      );
      const rates: Record<Kind, number[]> = { none: [], insert: [], event: [] };
      for (let round = 0; round < ROUNDS; round++)
        for (const kind of ["none", "insert", "event"] as const)
          rates[kind].push(await commitsPerSecond(pool, table, writers, kind));
      await pool.end();
      const rate = (kind: Kind): number => median(rates[kind]);
      const cost = (a: Kind, b: Kind): string => (rate(b) / rate(a)).toFixed(2);
      console.log(
        `${String(writers).padStart(7)}  ${cost("event", "insert").padStart(35)}  ${cost("event", "none").padStart(12)}  ${cost("insert", "none").padStart(19)}`,
      );
    }
  } finally {
    await database.destroy();
    await schema.drop();
  }
}

async function commitsPerSecond(pool: Pool, table: EventTable, writers: number, kind: Kind): Promise<number> {
  const text = JSON.stringify({ id: "3f0c1b9e-7a5d-4e0e-9d3a-1b2c3d4e5f60", total: 4200 });
  const begun = performance.now();
  let commits = 0;
  const write = async (): Promise<void> => {
    const client = await pool.connect();
    while (performance.now() - begun < ROUND_MS) {
      await client.query("begin");
      await client.query({ name: "row", text: "insert into rows (text) values ($1)", values: [text] });
      if (kind === "insert")
        await client.query({
          name: "plain",
          text: "insert into plain (topic, text) values ($1, $2)",
          values: ["orders.placed", text],
        });
      if (kind === "event")
        await table.write(
          async (sql, values) => (await client.query({ name: "event", text: sql, values: [...values] })).rows.length,
          [{ topic: "orders.placed", keep: "1d", text }],
        );
      await client.query("commit");
      commits++;
    }
    client.release();
  };
  await Promise.all(Array.from({ length: writers }, write));
  return (commits * 1000) / (performance.now() - begun);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
