import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { CompiledQuery, sql } from "kysely";
import { SimpleUser } from "../../src/auth/index.ts";
import { isEqual, isIn, rule } from "../../src/index.ts";
import type { KeyTuple, Order } from "../../src/pagination/index.ts";
import { onStatementSent } from "../../src/sql/database/on-statement-sent.ts";
import { policyStatements } from "../../src/sql/guard/policy-statements.ts";
import { type Database, openDatabase, type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { type Engine, openEngine } from "../servers/engines.ts";

const isShort = process.argv.includes("--short");
const ROWS = isShort ? 200_000 : 10_000_000;
const ORGANISATIONS = isShort ? 1_000 : 10_000;
/** A page of 20 rows, and the row that says whether there is a next page. */
const LIMIT = 21;
const ROUNDS = 25;
/** Slower statements are repeated three times only. */
const SLOW_MS = 500;
const byId: Order = [["id", "asc"]];
const DEPTHS = { first: 0, deep: Math.floor(ROWS * 0.9) } as const;

/** The organisations of each caller by their numbers: the first ones are the largest. */
const spread = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => 1 + ((at * 7919 + 13) % (ORGANISATIONS - 1)));
const from = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, at) => first + at);
const callers: Readonly<Record<string, readonly number[]>> = {
  "1 large": from(1, 1),
  "1 small": from(ORGANISATIONS - 5, 1),
  "5 large": from(1, 5),
  "5 small": from(ORGANISATIONS - 5, 5),
  "50 of all sizes": spread(50),
  "500 of all sizes": spread(500),
  all: from(1, ORGANISATIONS),
};

interface Tables {
  tickets: { id: string; organisation_id: number; title: string };
  memberships: { user_id: string; organisation_id: number; role: string };
}
const memberOf = (user: string) =>
  isIn("organisation_id", { from: "memberships", column: "organisation_id", where: isEqual("user_id", user) });
const inOrganisation = rule<Tables["tickets"]>({
  name: "organisation",
  allows: () => true,
  where: (user) => memberOf(user.identity),
});

/** Both statements that an engineer would write by hand. */
const HAND = {
  exists: `select t.*, t.id::text as key from tickets t where exists (select 1 from memberships m where m.organisation_id = t.organisation_id and m.user_id = $1) and t.id > $2 order by t.id limit ${LIMIT}`,
  merge: `select r.*, r.id::text as key from (
    select d.o from (select distinct organisation_id as o from memberships where user_id = $1) d
    cross join lateral (select t.id from tickets t where t.organisation_id = d.o and t.id > $2 order by t.id limit 1) f order by f.id limit ${LIMIT}
  ) p cross join lateral (select t.* from tickets t where t.organisation_id = p.o and t.id > $2 order by t.id limit ${LIMIT}) r order by r.id limit ${LIMIT}`,
} as const;

/** Returns the ids of a page. */
type Page = (user: string, depth: number) => Promise<readonly string[]>;

/**
 * Pages of the tickets of one organisation, of some and of all, in a table that all share: through a rule, through the
 * guard of the database, and through the guard with policies, over the better one of two statements written by hand. Parallel queries
 * are off, so that the CPU time of a statement is that of one process.
 */
export async function run(): Promise<void> {
  const schema = `portico_tenants_${randomUUID().slice(0, 8)}`;
  const engine = await openEngine("PostgreSQL", schema);
  const settings = encodeURIComponent(`-c search_path=${schema} -c max_parallel_workers_per_gather=0`);
  const urlOf = (role: string): string =>
    `postgres://${role}@127.0.0.1:5432/test?application_name=${schema}&options=${settings}`;
  const run = (text: string): Promise<unknown> => sql.raw(text).execute(engine.database);
  // Policies don't concern a superuser.
  await run(`create role ${schema} login`);
  const plain = openDatabase<any>(urlOf("postgres"), { poolSize: 2 }) as Database<Tables>;
  const guard = { tickets: { read: inOrganisation, write: "closed" }, memberships: "open" } as never;
  const guarded = openDatabase<any>(urlOf("postgres"), { poolSize: 2, guard }) as Database<Tables>;
  const policed = openDatabase<any>(urlOf(schema), { poolSize: 2, guard, policies: true }) as Database<Tables>;
  try {
    await fill(engine);
    for (const right of [`usage on schema ${schema}`, `select on all tables in schema ${schema}`])
      await run(`grant ${right} to ${schema}`);
    for (const text of (await policyStatements(policed, false, schema)).up) await run(text);
    const byHand =
      (text: string): Page =>
      async (user, depth) => {
        const { rows } = await plain.executeQuery<{ key: string }>(CompiledQuery.raw(text, [user, depth]));
        return rows.map(({ key }) => key);
      };
    const pages: Readonly<Record<Way, Page>> = {
      exists: byHand(HAND.exists),
      merge: byHand(HAND.merge),
      rule: (user, depth) =>
        pageOf(tableHandler(plain.selectFrom("tickets").selectAll()).scopedTo(memberOf(user)), depth),
      guard: (user, depth) =>
        pageOf(tableHandler(guarded.as(new SimpleUser(user)).selectFrom("tickets").selectAll()), depth),
      policies: (user, depth) =>
        pageOf(tableHandler(policed.as(new SimpleUser(user)).selectFrom("tickets").selectAll()), depth),
    };
    let last = CompiledQuery.raw("select 1");
    for (const database of [plain, guarded])
      onStatementSent(database, (statement) => {
        last = statement;
      });
    const buffers: Buffers = async (way, user, depth) => {
      await pages[way](user, depth);
      return buffersOf(engine, last);
    };
    for (const page of Object.values(pages)) await page("all", 0);
    const processes = sql<{ pid: number }>`select pid from pg_stat_activity where application_name = ${schema}`;
    const pids = (await processes.execute(engine.database)).rows.map(({ pid }) => pid);
    await measure(pages, buffers, () => cpuMs(pids));
  } finally {
    await Promise.all([plain, guarded, policed].map((database) => database.destroy()));
    await run(`drop owned by ${schema}`);
    await run(`drop role ${schema}`);
    await engine.close();
  }
}

/** The CPU time of this process and of those of PostgreSQL, which a busy machine changes less than time. */
function cpuMs(pids: readonly number[]): number {
  const { user, system } = process.cpuUsage();
  const ofServer = pids.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6);
  return ofServer.reduce((sum, ms) => sum + ms, (user + system) / 1e3);
}

/** Returns the blocks that the statement of a page reads, which a busy machine doesn't change. */
type Buffers = (way: Way, user: string, depth: number) => Promise<number>;

async function buffersOf({ database }: Engine, { sql: text, parameters }: CompiledQuery): Promise<number> {
  const explain = CompiledQuery.raw(`explain (analyze, buffers, format json) ${text}`, [...parameters]);
  type Explained = { readonly "QUERY PLAN": readonly [{ readonly Plan: Readonly<Record<string, number>> }] };
  const [row] = (await database.executeQuery<Explained>(explain)).rows;
  const plan = row?.["QUERY PLAN"][0].Plan;
  return (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
}

type Way = "exists" | "merge" | "rule" | "guard" | "policies";

async function pageOf(handler: TableHandler<any, any>, depth: number): Promise<readonly string[]> {
  const key: KeyTuple | null = depth === 0 ? null : [String(depth)];
  const rows = await handler.getItemsAfter({ order: byId, key, direction: "forward" }, LIMIT);
  return rows.map(({ id }) => String(id));
}

/** The largest organisation has about 8 % of the rows, and the smallest ones a hundred thousandth. */
async function fill({ database }: Engine): Promise<void> {
  const run = (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run(
    "create unlogged table tickets (id bigint not null, organisation_id integer not null, title text not null)",
  );
  await run("create table memberships (user_id text, organisation_id integer, role text)");
  await run(
    `insert into tickets select n, floor(exp(random() * ln(${ORGANISATIONS + 1})))::int, 'Ticket ' || n from generate_series(1, ${ROWS}) n`,
  );
  for (const [user, organisations] of Object.entries(callers))
    await run(
      `insert into memberships select '${user}', o, r from unnest(array[${organisations.join()}]) o, unnest(array['member', 'owner']) r where r = 'member' or o % 2 = 0`,
    );
  await run("alter table tickets add primary key (id)");
  await run("create index on tickets (organisation_id, id)");
  await run("alter table memberships add primary key (user_id, organisation_id, role)");
  await run("alter table tickets alter organisation_id set statistics 1000");
  await run("vacuum analyze tickets, memberships");
}

async function measure(pages: Readonly<Record<Way, Page>>, buffers: Buffers, cpu: () => number): Promise<void> {
  console.log(
    `${ROWS} rows of ${ORGANISATIONS} organisations, milliseconds of CPU time of both processes, medians of ${ROUNDS} rounds in turn, the first page of a caller left out`,
  );
  console.log(
    `${"organisations".padEnd(18)}${["page", "exists", "merge", "rule", "guard", "policies", "of better", "of rule", "of guard", "of first", "blocks", "of better"].map((text) => text.padStart(10)).join("")}`,
  );
  const worst = { better: 0, guard: 0, policies: 0, depth: 0, blocks: 0 };
  for (const user of Object.keys(callers)) {
    let first: number | null = null;
    for (const [name, depth] of Object.entries(DEPTHS)) {
      const { exists, merge, rule: ruled, guard, policies } = await compare(pages, user, depth, cpu);
      const figures = {
        better: ruled / Math.min(exists, merge),
        guard: guard / ruled,
        policies: policies / guard,
        depth: ruled / (first ?? ruled),
      };
      first ??= ruled;
      for (const key of ["better", "guard", "policies", "depth"] as const)
        worst[key] = Math.max(worst[key], figures[key]);
      const read = await buffers("rule", user, depth);
      const blocks = read / Math.min(await buffers("exists", user, depth), await buffers("merge", user, depth));
      worst.blocks = Math.max(worst.blocks, blocks);
      const costs = [exists, merge, ruled, guard, policies];
      const columns = [...costs, figures.better, figures.guard, figures.policies, figures.depth, read, blocks];
      console.log(
        `${user.padEnd(18)}${name.padStart(10)}${columns.map((value) => value.toFixed(2).padStart(10)).join("")}`,
      );
    }
  }
  console.log(
    `bench tenants: a rule costs at most ${worst.better.toFixed(2)} of the better statement (goal 1.3), a deep page ${worst.depth.toFixed(2)} of the first (goal 1.5), the guard ${worst.guard.toFixed(2)} of the rule (goal 1.1), policies ${worst.policies.toFixed(2)} of the guard (goal 1.5, one round trip for a page), and a rule reads at most ${worst.blocks.toFixed(2)} of the blocks of the statement that reads fewer`,
  );
}

/** Returns the median of each way, which must all have the same rows. */
async function compare(
  pages: Readonly<Record<Way, Page>>,
  user: string,
  depth: number,
  cpu: () => number,
): Promise<Readonly<Record<Way, number>>> {
  const ways = Object.entries(pages) as [Way, Page][];
  const times = new Map<Way, number[]>(ways.map(([way]) => [way, []]));
  const seen = new Set<string>();
  for (let round = -1; round < ROUNDS; round++)
    for (const [way, page] of ways) {
      const measured = times.get(way) as number[];
      if (measured.length >= 3 && median(measured) > SLOW_MS) continue;
      const start = cpu();
      const ids = await page(user, depth);
      const took = cpu() - start;
      seen.add(ids.join());
      // A prepared statement, the statistics and the caller's organisations are read before.
      if (round >= 0) measured.push(took);
    }
  if (seen.size !== 1) throw new Error(`${user}: the pages differ`);
  return Object.fromEntries(ways.map(([way]) => [way, median(times.get(way) as number[])])) as Record<Way, number>;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
