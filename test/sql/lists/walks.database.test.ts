import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { PorticoApp } from "portico";
import { drizzleHandler } from "portico/drizzle";
import { type CursorMetadata, CursorPagination, type Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../../lab/seeds/property-seed.ts";
import { type DrizzleDatabase, openDrizzle, tableOf } from "../../../lab/servers/drizzle-databases.ts";
import {
  type ColumnType,
  createTable,
  type Engine,
  engineNames,
  insertRows,
  openEngine,
} from "../../../lab/servers/engines.ts";
import { type Body, bodyOf, ids, publicColumns, range, SECRET, target } from "../../pagination/ways.ts";
import { ParallelWriter } from "./parallel-writer.ts";
import { order, type Row, rowOf, sortedBy, stored } from "./random-rows.ts";

const columnsOf = (mark: "" | "?"): Readonly<Record<string, ColumnType>> => ({
  id: "key",
  i: `int${mark}`,
  b: `bigint${mark}`,
  t: `time${mark}`,
  s: `text${mark}`,
  r: `real${mark}`,
  d: `decimal${mark}`,
});
const builders = engineNames.flatMap((name) => [[name, "Kysely"] as const, [name, "Drizzle"] as const]);

describe.each(builders)("a walk over a table of %s through %s", (name, builder) => {
  let engine: Engine;
  let drizzle: DrizzleDatabase;
  let writer: ParallelWriter;
  beforeAll(async () => {
    const schema = `portico_walks_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
    for (const [table, mark] of [
      ["some", "?"],
      ["every", ""],
    ] as const) {
      await createTable(engine, `${table}_rows`, columnsOf(mark));
    }
    drizzle = openDrizzle(engine);
    writer = new ParallelWriter(engine);
  });
  afterAll(async () => {
    await writer?.close();
    await drizzle?.close();
    await engine?.close();
  });

  const fill = async (table: string, rows: readonly Row[]): Promise<void> => {
    await engine.database.deleteFrom(table).execute();
    await insertRows(
      engine,
      table,
      rows.map((row, index) => stored(name, { id: index + 1, ...row })),
    );
  };
  const list = (table: string): unknown => {
    if (builder === "Kysely") return tableHandler(engine.database.selectFrom(table).select("id"));
    const rows = tableOf(name, table, columnsOf(table === "some_rows" ? "?" : ""));
    return drizzleHandler(drizzle.db.select({ id: rows["id"] } as never).from(rows) as never);
  };
  const serve = (table: string, columns: Order, size: number): TestClient => {
    const strategy = new CursorPagination({ order: columns, defaultPageSize: size });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/rows", ({ response }) => response.apaginate(list(table) as never, { strategy } as never));
    return testClient(app);
  };
  const get = async (client: TestClient, link: string): Promise<Body<CursorMetadata>> => {
    const answer = await client.get(link);
    expect(answer.status, answer.text()).toBe(200);
    return bodyOf<CursorMetadata>(answer);
  };
  /** The order by the engine itself, in one statement. */
  const oracle = async (table: string, columns: Order): Promise<unknown[]> =>
    ids({ items: await sortedBy(engine.database.selectFrom(table).select("id"), columns).execute() });

  it.each(["some_rows", "every_rows"])(
    "[HND-14] [PAG-26] [pagination:PG-087] [pagination:PG-089] [pagination:PG-113] returns every row of %s once, in order: forward, backward and turning around",
    async (table) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(rowOf(table === "some_rows"), { maxLength: 24 }),
          order,
          fc.integer({ min: 1, max: 7 }),
          async (rows, columns, size) => {
            await fill(table, rows);
            const client = serve(table, columns, size);
            const expected = await oracle(table, columns);

            const forward: unknown[] = [];
            const pages: unknown[][] = [];
            let body = await get(client, "/rows");
            for (;;) {
              pages.push(ids(body));
              forward.push(...ids(body));
              const { next, prev } = body.pagination.links;
              const before = prev === undefined ? undefined : ids(await get(client, target(prev)));
              expect(before).toEqual(pages.at(-2));
              // A walk that does not advance would never end.
              if (next === undefined || forward.length > 2 * expected.length + 10) break;
              body = await get(client, target(next));
            }
            const backward: unknown[] = ids(body);
            while (body.pagination.links.prev !== undefined) {
              body = await get(client, target(body.pagination.links.prev));
              backward.unshift(...ids(body));
            }

            const { last } = body.pagination.links;
            const end = last === undefined ? [] : ids(await get(client, target(last)));

            expect(forward).toEqual(expected);
            expect(backward).toEqual(expected);
            expect(end).toEqual(expected.slice(-size));
          },
        ),
        { numRuns: runs(10) },
      );
    },
  );

  it.each([undefined, "first", "last"] as const)(
    "in an order that the client chooses, with nulls %s, returns every row once, forward and backward",
    async (nulls) => {
      const strategy = new CursorPagination({
        sortField: "id",
        sortable: publicColumns("i", "b", "t", "s", "r", "d"),
        ...(nulls === undefined ? {} : { nulls }),
      });
      const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
      app.get("/rows", ({ response }) => response.apaginate(list("some_rows") as never, { strategy } as never));
      const client = testClient(app);
      await fc.assert(
        fc.asyncProperty(
          fc.array(rowOf(true), { maxLength: 20 }),
          order
            .filter(({ length }) => length <= 3)
            .map(
              (columns): Order =>
                columns.map(([column, way]) => (nulls === undefined ? [column, way] : [column, way, `nulls ${nulls}`])),
            ),
          fc.integer({ min: 2, max: 7 }),
          async (rows, columns, size) => {
            await fill("some_rows", rows);
            const sort = columns.map(([column, way]) => (way === "desc" ? `-${column}` : column)).join(",");
            const expected = await oracle("some_rows", columns);

            let body = await get(client, `/rows?sort=${sort}&page_size=${size}`);
            const forward = ids(body);
            while (body.pagination.links.next !== undefined && forward.length <= 2 * expected.length) {
              body = await get(client, target(body.pagination.links.next));
              forward.push(...ids(body));
            }
            const backward = ids(body);
            while (body.pagination.links.prev !== undefined) {
              body = await get(client, target(body.pagination.links.prev));
              backward.unshift(...ids(body));
            }

            expect(forward).toEqual(expected);
            expect(backward).toEqual(expected);
          },
        ),
        { numRuns: runs(4) },
      );
    },
  );

  it("[pagination:PG-114] during constant writes repeats and misses no row that stayed, forward and backward", async () => {
    let pages = 0;
    let written = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { minLength: 12, maxLength: 30 }),
        fc.array(rowOf(true), { minLength: 10, maxLength: 10 }),
        order,
        async (rows, later, columns) => {
          await fill("some_rows", rows);
          const untouched = range(1, rows.length).filter((id) => id % 3 !== 0);
          const client = serve("some_rows", columns, 2);
          const kept = (seen: readonly unknown[]): readonly unknown[] =>
            seen.filter((id) => untouched.includes(id as number)).toSorted((one, other) => Number(one) - Number(other));
          const before = writer.writes;
          await writer.start({
            table: "some_rows",
            ids: [...range(1, rows.length).filter((id) => id % 3 === 0), ...range(101, 110)],
            values: later.map((row) => {
              const { id: _id, ...values } = stored(name, { id: 0, ...row });
              return values;
            }),
          });
          try {
            let body = await get(client, "/rows");
            const forward = [...ids(body)];
            for (; body.pagination.links.next !== undefined; pages++) {
              body = await get(client, target(body.pagination.links.next));
              forward.push(...ids(body));
            }
            const backward = [...ids(body)];
            for (; body.pagination.links.prev !== undefined; pages++) {
              body = await get(client, target(body.pagination.links.prev));
              backward.push(...ids(body));
            }

            expect(kept(forward)).toEqual(untouched);
            expect(kept(backward)).toEqual(untouched);
          } finally {
            await writer.stop();
            written += writer.writes - before;
          }
        },
      ),
      // A race between two connections does not reproduce with smaller input.
      { numRuns: runs(5), endOnFailure: true },
    );

    // Otherwise there would have been no parallel writes.
    expect(written).toBeGreaterThan(pages / 4);
  });
});
