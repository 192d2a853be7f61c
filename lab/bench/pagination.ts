import { writeFile } from "node:fs/promises";
import { resolveCursorConnection } from "@pothos/plugin-relay";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { CursorPagination } from "../../src/pagination/index.ts";
import type { PageRequest } from "../../src/pagination/pages/page-request.ts";
import { paginate } from "../../src/pagination/pages/paginate.ts";
import { namedStatements, tableHandler } from "../../src/sql/index.ts";
import { pageAfter } from "./pagination/page-request.ts";
import { type Figures, picture } from "./pagination/picture.ts";
import { keyAt, prepareTable, TABLE } from "./pagination/table.ts";

interface Item {
  id: string;
  created_at: Date;
  title: string;
  price: number;
}
interface Tables {
  "portico_bench.items": Item;
}

const isShort = process.argv.includes("--short");
const ROWS = isShort ? 200_000 : 10_000_000;
const SIZE = 20;
const DEEP = isShort ? 8_000 : 400_000;
/** Pages that are asked for; the deep one is what counts. */
const PAGES = isShort ? [1, 100, DEEP] : [1, 1_000, 100_000, DEEP];
const ROUNDS = isShort ? 300 : 1_500;
const WARM_UP = 300;
const SLOW_ROUNDS = 3;
const strategy = new CursorPagination({
  order: [
    ["created_at", "asc"],
    ["id", "asc"],
  ],
});

type Key = readonly [createdAt: string, id: string];
interface Way {
  readonly name: string;
  /** Asks for the page after a key; the offset is that page's own. */
  readonly page: (key: Key, offset: number) => Promise<unknown>;
  readonly isSlow: boolean;
}

/**
 * A page of 20 by each way, at several depths, interleaved: every round asks every way in turn. Ratios within one run
 * count; the machine is shared.
 */
export async function run(): Promise<void> {
  const connection = {
    host: process.env["PGHOST"] ?? "127.0.0.1",
    user: process.env["PGUSER"] ?? "postgres",
    database: process.env["PGDATABASE"] ?? "test",
  };
  const pool = new Pool({ ...connection, max: 1 });
  await prepareTable(pool, ROWS);
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: namedStatements(new Pool({ ...connection, max: 1 })) }),
  });
  const ways = waysOf(pool, database);
  const keys = new Map<number, Key>();
  for (const page of PAGES) keys.set(page, await keyAt(pool, (page - 1) * SIZE));

  const times = new Map(ways.map(({ name }) => [name, new Map<number, number[]>(PAGES.map((page) => [page, []]))]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const page of PAGES) {
      for (const way of ways) {
        // A slow way is slow with the depth: there a few rounds tell enough, and more would take the day.
        if (way.isSlow && page > 1 && (round < 0 || round >= (page > 1_000 ? SLOW_ROUNDS : ROUNDS / 20))) continue;
        const start = process.hrtime.bigint();
        await way.page(keys.get(page) as Key, (page - 1) * SIZE);
        const taken = Number(process.hrtime.bigint() - start) / 1e6;
        if (round >= 0) times.get(way.name)?.get(page)?.push(taken);
      }
    }
  }
  const medians = new Map(
    [...times].map(([name, pages]) => [name, new Map([...pages].map(([page, taken]) => [page, median(taken)]))]),
  );
  report(ways, medians);
  if (!isShort) await writeFile(new URL("../../docs/guide/pagination.svg", import.meta.url), picture(figures(medians)));
  await Promise.all([database.destroy(), pool.end()]);
}

function waysOf(pool: Pool, database: Kysely<Tables>): readonly Way[] {
  const text = `select id, created_at, title, price from ${TABLE} where (created_at, id) > ($1, $2) order by created_at, id limit ${SIZE + 1}`;
  const items = () => database.selectFrom(TABLE).selectAll();
  const requests = new Map<Key, PageRequest>();
  const requestFor = (key: Key): PageRequest => {
    const known = requests.get(key) ?? pageAfter(key, strategy, tableHandler(items()));
    requests.set(key, known);
    return known;
  };
  const kept = tableHandler(items());
  /** The condition that kysely-paginate 0.2 and the Drizzle plugin of Pothos build. */
  const afterByOr = ([createdAt, id]: Key, limit: number) =>
    items()
      .where((eb) =>
        eb.or([
          eb("created_at", ">", createdAt as never),
          eb.and([eb("created_at", "=", createdAt as never), eb("id", ">", id)]),
        ]),
      )
      .orderBy("created_at")
      .orderBy("id")
      .limit(limit)
      .execute();
  return [
    { name: "pg, named statement", isSlow: false, page: (key) => pool.query({ name: "page", text, values: [...key] }) },
    {
      name: "kysely, the same query",
      isSlow: false,
      page: (key) =>
        items()
          .where(sql<boolean>`(created_at, id) > (${key[0]}, ${key[1]})`)
          .orderBy("created_at")
          .orderBy("id")
          .limit(SIZE + 1)
          .execute(),
    },
    {
      name: "portico, cursor",
      isSlow: false,
      page: async (key) => paginate(strategy, tableHandler(items()), requestFor(key)),
    },
    {
      name: "portico, cursor, kept handler",
      isSlow: false,
      page: async (key) => paginate(strategy, kept, requestFor(key)),
    },
    {
      name: "kysely, offset",
      isSlow: true,
      page: (_key, offset) => items().orderBy("created_at").orderBy("id").limit(SIZE).offset(offset).execute(),
    },
    { name: "kysely-paginate's condition", isSlow: true, page: (key) => afterByOr(key, SIZE + 1) },
    {
      name: "pothos, resolveCursorConnection",
      isSlow: true,
      page: (key) =>
        Promise.resolve(
          resolveCursorConnection(
            {
              args: { first: SIZE, after: JSON.stringify(key) },
              toCursor: (item: Item) => JSON.stringify([item.created_at, item.id]),
            },
            async ({ after, limit }: { after?: string; limit: number }) =>
              afterByOr(JSON.parse(after ?? "[]") as Key, limit),
          ),
        ),
    },
  ];
}

function report(ways: readonly Way[], medians: ReadonlyMap<string, ReadonlyMap<number, number>>): void {
  const at = (name: string, page: number): number => medians.get(name)?.get(page) ?? Number.NaN;
  console.log(`p50 in ms of a page of ${SIZE} out of ${ROWS.toLocaleString("en")} rows`);
  console.log(`${"".padEnd(34)}${PAGES.map((page) => `page ${page.toLocaleString("en")}`.padStart(14)).join("")}`);
  for (const { name } of ways)
    console.log(`${name.padEnd(34)}${PAGES.map((page) => at(name, page).toFixed(3).padStart(14)).join("")}`);
  const own = at("portico, cursor", DEEP);
  const flat = own / at("portico, cursor", 1);
  console.log(`portico, page ${DEEP.toLocaleString("en")} over page 1: ${flat.toFixed(2)} (gate 1.5)`);
  console.log(`portico over kysely, deep: ${(own / at("kysely, the same query", DEEP)).toFixed(2)} (gate 1.25)`);
  const bare = at("pg, named statement", DEEP);
  const kept = at("portico, cursor, kept handler", DEEP);
  console.log(
    `portico over pg by name, deep: ${(own / bare).toFixed(2)}, with a kept handler ${(kept / bare).toFixed(2)} (goal 1.25)`,
  );
  console.log(
    `bench pagination: offset over portico, deep: ${Math.round(at("kysely, offset", DEEP) / own).toLocaleString("en")}`,
  );
}

function figures(medians: ReadonlyMap<string, ReadonlyMap<number, number>>): Figures {
  return {
    rows: ROWS,
    size: SIZE,
    ways: Object.fromEntries([...medians].map(([name, pages]) => [name, Object.fromEntries(pages)])),
  };
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
