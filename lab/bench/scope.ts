import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { type Condition, isEqual, isIn } from "../../src/index.ts";
import type { ListScope } from "../../src/pagination/handlers/list-scope.ts";
import { CursorPagination } from "../../src/pagination/index.ts";
import { paginate } from "../../src/pagination/pages/paginate.ts";
import { namedStatements, tableHandler } from "../../src/sql/index.ts";
import { firstPage, pageAfter } from "./pagination/page-request.ts";

interface Item {
  id: string;
  organisation_id: number;
  created_at: Date;
  title: string;
}
interface Tables {
  "portico_scope_bench.items": Item;
  "portico_scope_bench.members": { organisation_id: number; user_id: number };
}

const isShort = process.argv.includes("--short");
const ROWS = isShort ? 200_000 : 10_000_000;
const SIZE = 20;
const ROUNDS = isShort ? 1_000 : 3_000;
const WARM_UP = 3_000;
const GATE = 1.1;
const ORGANISATIONS = 100;
const SEVERAL = [3, 14, 15, 92, 65, 35, 89, 79, 32, 38];
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];
const SCHEMA = "portico_scope_bench";
const TABLE = "portico_scope_bench.items";
const MEMBERS = "portico_scope_bench.members";
const strategy = new CursorPagination({
  order: [
    ["created_at", "asc"],
    ["id", "asc"],
  ],
});

type Key = readonly [createdAt: string, id: string];
/** Milliseconds by way and round. */
type Times = readonly (readonly number[])[];
type Query = ReturnType<typeof itemsOf>;

/** A rule as a condition, as its author would write it with Kysely, and in JavaScript. */
interface Rule {
  readonly name: string;
  readonly condition: Condition;
  readonly byHand: (query: Query) => Query;
  readonly allows: (item: Item) => boolean;
}

const rules: readonly Rule[] = [
  {
    name: "one organisation",
    condition: isIn("organisation_id", [7]),
    byHand: (query) => query.where("organisation_id", "=", 7),
    allows: (item) => item.organisation_id === 7,
  },
  {
    name: "ten organisations",
    condition: isIn("organisation_id", SEVERAL),
    byHand: (query) => query.where("organisation_id", "in", SEVERAL),
    allows: (item) => SEVERAL.includes(item.organisation_id),
  },
  {
    name: "related rows",
    condition: isIn("organisation_id", { from: MEMBERS, column: "organisation_id", where: isEqual("user_id", 1) }),
    byHand: (query) =>
      query.where("organisation_id", "in", (eb) =>
        eb.selectFrom(MEMBERS).select("organisation_id").where("user_id", "=", 1),
      ),
    allows: (item) => SEVERAL.includes(item.organisation_id),
  },
];

function itemsOf(database: Kysely<Tables>) {
  return database.selectFrom(TABLE).selectAll();
}

/**
 * A deep page of 20 with a rule, and with its condition written by hand: in the query of the handler, and in a
 * statement that Kysely sends. Ratios within one run count.
 */
export async function run(): Promise<void> {
  const connection = {
    host: process.env["PGHOST"] ?? "127.0.0.1",
    user: process.env["PGUSER"] ?? "postgres",
    database: process.env["PGDATABASE"] ?? "test",
  };
  const pool = new Pool({ ...connection, max: 1 });
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: namedStatements(new Pool({ ...connection, max: 1 })) }),
  });
  try {
    await makeTable(pool);
    const key = await deepKey(pool);
    const times = await measure(database, key);
    console.log(`p50 in ms of a page of ${SIZE} at nine tenths of ${ROWS.toLocaleString("en")} rows`);
    console.log(
      `${"".padEnd(20)}${["rule", "handler", "kysely", "/ handler", "/ kysely"].map((head) => head.padStart(12)).join("")}`,
    );
    const worst = Math.max(...rules.map((rule, index) => report(rule, times[index] ?? [])));
    console.log(`bench scope: a rule over its condition by hand, deep, worst: ${worst.toFixed(2)} (gate ${GATE})`);
  } finally {
    await pool.query(`drop schema if exists ${SCHEMA} cascade`);
    await Promise.all([database.destroy(), pool.end()]);
  }
}

async function makeTable(pool: Pool): Promise<void> {
  console.log(`making ${TABLE} with ${ROWS.toLocaleString("en")} rows`);
  await pool.query(`drop schema if exists ${SCHEMA} cascade`);
  await pool.query(`create schema ${SCHEMA}`);
  await pool.query(
    `create unlogged table ${TABLE} as select i::bigint as id, 1 + i % ${ORGANISATIONS} as organisation_id, timestamptz '2020-01-01' + (i / 100) * interval '1 second' as created_at, 'Title ' || i as title from generate_series(1, ${ROWS}) i`,
  );
  for (const column of ["id", "organisation_id", "created_at", "title"])
    await pool.query(`alter table ${TABLE} alter column ${column} set not null`);
  await pool.query(`create unique index on ${TABLE} (created_at, id)`);
  await pool.query(`create unique index on ${TABLE} (organisation_id, created_at, id)`);
  await pool.query(`create unlogged table ${MEMBERS} (organisation_id integer not null, user_id integer not null)`);
  await pool.query(`insert into ${MEMBERS} select unnest($1::int[]), 1`, [SEVERAL]);
  await pool.query(`create unique index on ${MEMBERS} (organisation_id, user_id)`);
  await pool.query(`vacuum analyze ${TABLE}, ${MEMBERS}`);
}

/** The place of the row at nine tenths of the list. */
async function deepKey(pool: Pool): Promise<Key> {
  const { rows } = await pool.query<{ created_at: string; id: string }>(
    `select created_at::text, id::text from ${TABLE} where created_at >= timestamptz '2020-01-01' + ${(ROWS * 9) / 1_000} * interval '1 second' order by created_at, id limit 1`,
  );
  return [rows[0]?.created_at ?? "", rows[0]?.id ?? ""];
}

/**
 * Returns the times of each way in every round, by rule. All rules are measured in the same rounds, and the ways follow one
 * another in every order: a way is faster after one that has just run the same code and read the same rows.
 */
async function measure(database: Kysely<Tables>, key: Key): Promise<readonly Times[]> {
  const ways = rules.map((rule) => waysOf(database, rule, key));
  for (const [index, each] of ways.entries()) {
    const pages = await Promise.all(each.map((way) => way()));
    const found = pages.map((items) => items.slice(0, SIZE).map(({ id }) => id));
    if (found[0]?.length !== SIZE || new Set(found.map(String)).size !== 1)
      throw new Error(`the pages of ${rules[index]?.name} differ`);
  }
  const times = ways.map((each) => each.map(() => [] as number[]));
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const [index, each] of ways.entries())
      for (const at of ORDERS[(round + WARM_UP) % ORDERS.length] ?? []) {
        const start = process.hrtime.bigint();
        await each[at]?.();
        if (round >= 0) times[index]?.[at]?.push(Number(process.hrtime.bigint() - start) / 1e6);
      }
  return times;
}

/**
 * Prints the times and returns the larger ratio of the rule to its condition by hand. A ratio is the median of the
 * ratios within each round, because other processes slow down whole rounds.
 */
function report({ name }: Rule, [rule = [], handler = [], kysely = []]: Times): number {
  const ratioTo = (other: readonly number[]): number => median(rule.map((ms, round) => ms / (other[round] ?? ms)));
  const ratios = [ratioTo(handler), ratioTo(kysely)];
  console.log(
    `${name.padEnd(20)}${[rule, handler, kysely].map((times) => median(times).toFixed(3).padStart(12)).join("")}${ratios.map((ratio) => ratio.toFixed(2).padStart(12)).join("")}`,
  );
  return Math.max(...ratios);
}

/** The ways to read the page: with the rule, by hand in the handler, and by hand with Kysely. */
function waysOf(database: Kysely<Tables>, rule: Rule, key: Key): readonly (() => Promise<readonly Item[]>)[] {
  const scope: ListScope = {
    name: rule.name,
    condition: rule.condition,
    allows: (items) => (items as readonly Item[]).map(rule.allows),
  };
  const handler = tableHandler(itemsOf(database));
  const scoped = pageAfter(key, strategy, handler, { ...firstPage, scope });
  const unscoped = pageAfter(key, strategy, handler);
  return [
    async () => (await paginate(strategy, tableHandler(itemsOf(database)), scoped)).items,
    async () => (await paginate(strategy, tableHandler(rule.byHand(itemsOf(database))), unscoped)).items,
    () =>
      rule
        .byHand(itemsOf(database))
        .where(sql<boolean>`(created_at, id) > (${key[0]}, ${key[1]})`)
        .orderBy("created_at")
        .orderBy("id")
        .limit(SIZE + 1)
        .execute(),
  ];
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
