import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { type Order, type WalkBatch, walk } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../../lab/seeds/property-seed.ts";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "../../../lab/servers/engines.ts";
import { ids, range } from "../../pagination/ways.ts";
import { ParallelWriter } from "./parallel-writer.ts";
import { order, type Row, rowOf, sortedBy, stored } from "./random-rows.ts";

describe.each(engineNames)("a job that walks a table of %s", (name) => {
  let engine: Engine;
  let writer: ParallelWriter;
  beforeAll(async () => {
    const schema = `portico_job_walks_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
    const columns = { id: "key", i: "int?", b: "bigint?", t: "time?", s: "text?", r: "real?", d: "decimal?" } as const;
    await createTable(engine, "job_rows", columns);
    writer = new ParallelWriter(engine);
  });
  afterAll(async () => {
    await writer?.close();
    await engine?.close();
  });

  const fill = async (rows: readonly Row[]): Promise<void> => {
    await engine.database.deleteFrom("job_rows").execute();
    await insertRows(
      engine,
      "job_rows",
      rows.map((row, index) => stored(name, { id: index + 1, ...row })),
    );
  };
  const batches = (columns: Order, size: number, after: string | null): AsyncIterable<WalkBatch<{ id: number }>> =>
    walk(tableHandler(engine.database.selectFrom("job_rows").select("id")), { size, order: columns, after });
  /** Returns the ids of all rows. The job stops after some batches and starts again from its saved point. */
  const restarted = async (columns: Order, size: number, batchesPerRun: number): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let after: string | null = null, isDone = false; !isDone; ) {
      isDone = true;
      let left = batchesPerRun;
      for await (const batch of batches(columns, size, after)) {
        seen.push(...ids(batch));
        after = batch.after;
        left -= 1;
        if (left > 0) continue;
        isDone = false;
        break;
      }
    }
    return seen;
  };

  it("gets every row once, in order, however often it is restarted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { maxLength: 24 }),
        order,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, columns, size, batchesPerRun) => {
          await fill(rows);
          const sorted = sortedBy(engine.database.selectFrom("job_rows").select("id"), columns);
          const expected = ids({ items: await sorted.execute() });

          expect(await restarted(columns, size, batchesPerRun)).toEqual(expected);
        },
      ),
      { numRuns: runs(10) },
    );
  });

  it("repeats and misses no row that stays while others are written", async () => {
    let pages = 0;
    const before = writer.writes;
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { minLength: 12, maxLength: 30 }),
        fc.array(rowOf(true), { minLength: 10, maxLength: 10 }),
        order,
        async (rows, later, columns) => {
          await fill(rows);
          const untouched = range(1, rows.length).filter((id) => id % 3 !== 0);
          await writer.start({
            table: "job_rows",
            ids: [...range(1, rows.length).filter((id) => id % 3 === 0), ...range(101, 110)],
            values: later.map((row) => {
              const { id: _id, ...values } = stored(name, { id: 0, ...row });
              return values;
            }),
          });
          try {
            const seen = await restarted(columns, 2, 3);
            pages += seen.length / 2;

            const kept = seen.filter((id) => untouched.includes(id as number));
            expect(kept.toSorted((one, other) => Number(one) - Number(other))).toEqual(untouched);
          } finally {
            await writer.stop();
          }
        },
      ),
      // A race between two connections does not reproduce with smaller input.
      { numRuns: runs(5), endOnFailure: true },
    );

    // Otherwise there would have been no parallel writes.
    expect(writer.writes - before).toBeGreaterThan(pages / 4);
  });

  it("sends one statement per batch and never counts or skips", async () => {
    await fill(Array.from({ length: 9 }, () => ({ i: 1, b: null, t: null, s: null, r: null, d: null })));
    const seeks: string[] = [];
    engine.statements.length = 0;

    for await (const { items } of batches([["id", "asc"]], 4, null)) expect(items.length).toBeGreaterThan(0);

    for (const { sql } of engine.statements) if (sql.includes("job_rows")) seeks.push(sql);
    expect(seeks.filter((sql) => /limit/i.test(sql))).toHaveLength(3);
    expect(seeks.filter((sql) => /offset|count\(/i.test(sql))).toHaveLength(0);
  });
});
