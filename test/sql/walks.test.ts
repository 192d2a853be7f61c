import * as fc from "fast-check";
import { PorticoApp } from "portico";
import { type CursorMetadata, CursorPagination, type Direction } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { type TestClient, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Body, bodyOf, ids, range, SECRET, target } from "../pagination/ways.ts";
import { createTable, type Engine, engineNames, insertRows, openEngine } from "./engines.ts";

interface Row {
  readonly i: number | null;
  readonly b: string | null;
  readonly t: string | null;
  readonly s: string | null;
  readonly r: number | null;
  readonly d: string | null;
}

const maybe = <T>(value: fc.Arbitrary<T>, isNullable: boolean): fc.Arbitrary<T | null> =>
  isNullable ? fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: value }) : value;
/** Few values, so that there are ties; neighbours that a rounded key would not tell apart. */
const rowOf = (isNullable: boolean): fc.Arbitrary<Row> =>
  fc.record({
    i: maybe(fc.integer({ min: -1, max: 2 }), isNullable),
    b: maybe(fc.constantFrom("9007199254740992", "9007199254740993", "9223372036854775807", "-1"), isNullable),
    t: maybe(
      fc.constantFrom("2024-03-01 10:00:00.123456", "2024-03-01 10:00:00.123457", "2024-03-01 10:00:00.123000"),
      isNullable,
    ),
    s: maybe(fc.constantFrom("", "a", "a'b", "B", "\u00e4", "\u{1f600}"), isNullable),
    r: maybe(
      fc.oneof(fc.constantFrom(0.1, 1 / 3, 1e21, 3.1458982871292564e-279), fc.double({ min: -1, max: 1, noNaN: true })),
      isNullable,
    ),
    d: maybe(fc.constantFrom("0.1000000001", "0.1000000002", "12345678901234567890.1"), isNullable),
  });
const order = fc.uniqueArray(
  fc.tuple(fc.constantFrom("i", "b", "t", "s", "r", "d"), fc.constantFrom<Direction>("asc", "desc")),
  {
    minLength: 1,
    maxLength: 4,
    selector: ([column]) => column,
  },
);

describe.each(engineNames)("a walk over a table of %s", (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(name, "portico_walks");
    for (const [table, mark] of [
      ["some", "?"],
      ["every", ""],
    ] as const) {
      const columns = {
        id: "key",
        i: `int${mark}`,
        b: `bigint${mark}`,
        t: `time${mark}`,
        s: `text${mark}`,
        r: `real${mark}`,
        d: `decimal${mark}`,
      } as const;
      await createTable(engine, `${table}_rows`, columns);
    }
  });
  afterAll(() => engine?.close());

  const fill = async (table: string, rows: readonly Row[]): Promise<void> => {
    await engine.database.deleteFrom(table).execute();
    await insertRows(
      engine,
      table,
      rows.map((row, index) => stored(name, { id: index + 1, ...row })),
    );
  };
  const serve = (table: string, columns: readonly (readonly [string, Direction])[], size: number): TestClient => {
    const strategy = new CursorPagination({ order: columns, defaultPageSize: size });
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    app.get("/rows", ({ response }) =>
      response.apaginate(tableHandler(engine.database.selectFrom(table).select("id")) as never, { strategy } as never),
    );
    return testClient(app);
  };
  const get = async (client: TestClient, link: string): Promise<Body<CursorMetadata>> => {
    const answer = await client.get(link);
    expect(answer.status, answer.text()).toBe(200);
    return bodyOf<CursorMetadata>(answer);
  };
  /** The order by the engine itself, in one statement. */
  const oracle = async (table: string, columns: readonly (readonly [string, Direction])[]): Promise<unknown[]> => {
    const direction = columns.at(-1)?.[1] ?? "asc";
    const query = columns.reduce(
      (built, [column, way]) => built.orderBy(column, way),
      engine.database.selectFrom(table).select("id"),
    );
    return ids({ items: await query.orderBy("id", direction).execute() });
  };

  it.each(["some_rows", "every_rows"])(
    "[HND-14] [PAG-26] [pagination:PG-087] [pagination:PG-089] [pagination:PG-113] gives every row of %s once, in order: forward, backward and turning around",
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
              // A walk that stands still would never end.
              if (next === undefined || forward.length > 2 * expected.length + 10) break;
              body = await get(client, target(next));
            }
            const backward: unknown[] = ids(body);
            while (body.pagination.links.prev !== undefined) {
              body = await get(client, target(body.pagination.links.prev));
              backward.unshift(...ids(body));
            }

            expect(forward).toEqual(expected);
            expect(backward).toEqual(expected);
          },
        ),
        { numRuns: 30 },
      );
    },
    60_000,
  );

  it("[pagination:PG-114] among writes of others repeats and misses none that stayed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { minLength: 6, maxLength: 20 }),
        fc.array(rowOf(true), { minLength: 10, maxLength: 10 }),
        order,
        async (rows, later, columns) => {
          await fill("some_rows", rows);
          const untouched = range(1, rows.length).filter((id) => id % 3 !== 0);
          const client = serve("some_rows", columns, 2);
          const seen: unknown[] = [];
          let body = await get(client, "/rows");
          for (let turn = 0; ; turn++) {
            seen.push(...ids(body));
            const { next } = body.pagination.links;
            if (next === undefined) break;
            if (turn < later.length) {
              const fresh = stored(name, { id: 100 + turn, ...(later[turn] as Row) });
              await engine.database
                .insertInto("some_rows")
                .values(fresh as never)
                .execute();
              await engine.database
                .deleteFrom("some_rows")
                .where("id", "=", (turn + 1) * 6)
                .execute();
              const { id: _id, ...changes } = fresh;
              await engine.database
                .updateTable("some_rows")
                .set(changes as never)
                .where("id", "=", turn * 6 + 3)
                .execute();
            }
            body = await get(client, target(next));
          }

          const kept = seen.filter((id) => untouched.includes(id as number));
          expect(kept.toSorted((a, b) => Number(a) - Number(b))).toEqual(untouched);
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);
});

/** A row as the engine's driver takes it. */
function stored(name: Engine["name"], row: Row & { readonly id: number }): Record<string, unknown> {
  const { b, t, d } = row;
  return {
    ...row,
    b: b === null || name !== "SQLite" ? b : BigInt(b),
    t: t === null || name !== "PostgreSQL" ? t : `${t}+00`,
    d: d === null || name !== "SQLite" ? d : Number(d),
  };
}
