import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import * as fc from "fast-check";
import { PorticoApp } from "portico";
import { drizzleHandler } from "portico/drizzle";
import { connection, field, Graph, type ObjectType, type Of, object, schema, t } from "portico/graphql";
import { CursorPagination, type Order } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { testClient } from "portico/testing";
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
import { range, SECRET } from "../../pagination/ways.ts";
import { ParallelWriter } from "./parallel-writer.ts";
import { order, type Row, rowOf, sortedBy, stored } from "./random-rows.ts";

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[];
  readonly pageInfo: Readonly<Record<"hasNextPage" | "hasPreviousPage", boolean>> &
    Readonly<Record<"startCursor" | "endCursor", string | null>>;
  readonly totalCount: number;
}
/** Asks for one page of each parent, with these arguments. */
type Ask = (list: "rows" | "alone", args: ReadonlyMap<number, string>) => Promise<ReadonlyMap<number, Page>>;

const parents = range(1, 5);
const parentOf = (index: number, places: readonly number[]): number => places[index % places.length] ?? 1;

const columnsOf = (mark: "" | "?"): Readonly<Record<string, ColumnType>> => ({
  id: "key",
  parent: "int",
  i: `int${mark}`,
  b: `bigint${mark}`,
  t: `time${mark}`,
  s: `text${mark}`,
  r: `real${mark}`,
  d: `decimal${mark}`,
});
const builders = engineNames.flatMap((name) => [[name, "Kysely"] as const, [name, "Drizzle"] as const]);

describe.each(builders)("nested lists on %s through %s, compared with the list of each parent", (name, builder) => {
  let engine: Engine;
  let drizzle: DrizzleDatabase;
  let writer: ParallelWriter;
  beforeAll(async () => {
    const place = `portico_nested_walks_${randomUUID().slice(0, 8)}`;
    engine = await openEngine(name, place, join(tmpdir(), `${place}.sqlite`));
    for (const [table, mark] of [
      ["some_rows", "?"],
      ["every_rows", ""],
    ] as const)
      await createTable(engine, table, columnsOf(mark));
    drizzle = openDrizzle(engine);
    writer = new ParallelWriter(engine);
  });
  afterAll(async () => {
    await writer?.close();
    await drizzle?.close();
    await engine?.close();
  });

  const fill = async (table: string, rows: readonly Row[], places: readonly number[]): Promise<void> => {
    await engine.database.deleteFrom(table).execute();
    await insertRows(
      engine,
      table,
      rows.map((row, index) => ({
        ...stored(name, { id: index + 1, ...row }),
        parent: parentOf(index, places),
      })),
    );
  };

  const serve = (table: string, columns: Order): Ask => {
    const strategy = new CursorPagination({ order: columns }) as unknown as CursorPagination;
    const RowType: ObjectType<{ readonly id: number; readonly parent: number }> = object("Row", { id: t.int });
    const rows = tableOf(name, table, columnsOf(table === "some_rows" ? "?" : ""));
    const listOf = (parent?: number): never => {
      if (builder === "Drizzle") {
        const query = drizzle.db.select({ id: rows["id"], parent: rows["parent"] } as never).from(rows);
        const where = parent === undefined ? undefined : eq(rows["parent"] as never, parent);
        return drizzleHandler(query.where(where) as never) as never;
      }
      const query = engine.database.selectFrom(table).select(["id", "parent"]);
      return tableHandler(parent === undefined ? query : query.where("parent", "=", parent)) as never;
    };
    const Parent: ObjectType<{ readonly id: number }> = object("Parent", {
      rows: connection(RowType, strategy, { parent: { parent: "id" } })(() => listOf()),
      alone: connection(RowType, strategy, {
        cursorScope: ({ parent }: Of<{ readonly id: number }>) => ({ parent: parent.id }),
      })(({ parent }) => listOf(parent.id)),
    });
    const query = { parent: field(Parent, { params: { id: t.int } })(({ id }) => ({ id })) };
    const app = new PorticoApp({ logger: false, cursorKeys: [SECRET] });
    new Graph(schema({ query }), { debug: true }).mount(app);
    const client = testClient(app);
    return async (kind, args) => {
      const fields = [...args].map(
        ([id, text]) =>
          `p${id}: parent(id: ${id}) { list: ${kind}(${text}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
      );
      const response = await client.post("/graphql", { body: { query: `{ ${fields.join(" ")} }` } });
      const { data, errors } = response.json() as { data: Record<string, { list: Page }>; errors?: unknown };
      expect(errors).toBeUndefined();
      return new Map([...args.keys()].map((id) => [id, data[`p${id}`]?.list as Page]));
    };
  };

  /** Pages through the lists of all parents at once. Returns the ids of each. */
  const walk = async (ask: Ask, way: "first" | "last", size: number): Promise<ReadonlyMap<number, number[]>> => {
    const seen = new Map(parents.map((id) => [id, [] as number[]]));
    let args = new Map(parents.map((id) => [id, `${way}: ${size}`]));
    for (let pages = 0; args.size > 0 && pages < 100; pages++) {
      const next = new Map<number, string>();
      for (const [id, { edges, pageInfo }] of await ask("rows", args)) {
        const ids = edges.map(({ node }) => node.id);
        if (way === "first") seen.get(id)?.push(...ids);
        else seen.get(id)?.unshift(...ids);
        if (way === "first" && pageInfo.hasNextPage) next.set(id, `first: ${size}, after: "${pageInfo.endCursor}"`);
        if (way === "last" && pageInfo.hasPreviousPage)
          next.set(id, `last: ${size}, before: "${pageInfo.startCursor}"`);
      }
      args = next;
    }
    return seen;
  };

  /** The order by the engine itself. */
  const oracle = async (table: string, columns: Order): Promise<ReadonlyMap<number, number[]>> => {
    const rows = await sortedBy(engine.database.selectFrom(table).select(["id", "parent"]), columns).execute();
    return new Map(parents.map((id) => [id, rows.filter(({ parent }) => parent === id).map((row) => row["id"])]));
  };

  it.each(["some_rows", "every_rows"])(
    "have the same pages, cursors and totals, and walk %s once, in order, both ways",
    async (table) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(rowOf(table === "some_rows"), { maxLength: 30 }),
          fc.array(fc.constantFrom(1, 2, 3, 4), { minLength: 1, maxLength: 7 }),
          order,
          fc.integer({ min: 1, max: 4 }),
          fc.infiniteStream(fc.nat({ max: 40 })),
          async (rows, places, columns, size, numbers) => {
            await fill(table, rows, places);
            const ask = serve(table, columns);
            const random = (below: number): number => (numbers.next().value ?? 0) % below;

            const expected = await oracle(table, columns);
            expect(await walk(ask, "first", size)).toEqual(expected);
            expect(await walk(ask, "last", size)).toEqual(expected);

            // Each parent has arguments of its own: a size, a start and an end, or none of them.
            const whole = await ask("rows", new Map(parents.map((id) => [id, "first: 30"])));
            const args = new Map(
              parents.map((id) => {
                const cursors = whole.get(id)?.edges.map(({ cursor }) => cursor) ?? [];
                const at = (parameter: string): string[] =>
                  cursors.length === 0 || random(2) === 0 ? [] : [`${parameter}: "${cursors[random(cursors.length)]}"`];
                return [
                  id,
                  [`${random(2) === 0 ? "first" : "last"}: ${random(4)}`, ...at("after"), ...at("before")].join(", "),
                ];
              }),
            );
            expect(await ask("rows", args)).toEqual(await ask("alone", args));
          },
        ),
        { numRuns: runs(4) },
      );
    },
  );

  it("during constant writes repeat and miss no row that stayed, both ways", async () => {
    let walks = 0;
    const before = writer.writes;
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf(true), { minLength: 12, maxLength: 30 }),
        fc.array(rowOf(true), { minLength: 10, maxLength: 10 }),
        order,
        async (rows, later, columns) => {
          await fill("some_rows", rows, parents);
          const untouched = range(1, rows.length).filter((id) => id % 3 !== 0);
          const ask = serve("some_rows", columns);
          await writer.start({
            table: "some_rows",
            ids: [...range(1, rows.length).filter((id) => id % 3 === 0), ...range(101, 110)],
            values: later.map((row, index) => {
              const { id: _id, ...values } = stored(name, { id: 0, ...row });
              return { ...values, parent: parentOf(index, parents) };
            }),
          });
          try {
            for (const way of ["first", "last"] as const) {
              const seen = [...(await walk(ask, way, 2))].flatMap(([, ids]) => ids);
              expect(seen.filter((id) => untouched.includes(id)).toSorted((a, b) => a - b)).toEqual(untouched);
              walks++;
            }
          } finally {
            await writer.stop();
          }
        },
      ),
      // A race between two connections does not reproduce with smaller input.
      { numRuns: runs(3), endOnFailure: true },
    );

    // Otherwise there would have been no parallel writes.
    expect(writer.writes - before).toBeGreaterThan(walks);
  });
});
