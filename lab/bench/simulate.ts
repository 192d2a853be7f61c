import { sql } from "kysely";
import { createClient } from "redis";
import { openDatabase } from "../../src/sql/index.ts";
import { scalingPlot } from "../figures/scaling-tables.ts";
import { keepResults } from "./graphql/keep-results.ts";
import { needsOf, type Parts } from "./scale/capacity.ts";
import { Fleet, type Kind } from "./scale/fleet.ts";
import { makeScalePlace, type ScalePlace } from "./scale/scale-place.ts";
import { measureSockets } from "./sockets.ts";

// npm run simulate: measures what requests, sessions and sockets cost, computes from that what any number of users needs, and
// checks the computation against real runs of a mix of requests on one, two and three processes.

const isShort = process.argv.includes("--short");
const SECONDS = isShort ? 2 : 10;
const SOCKETS = isShort ? 500 : 5_000;
/** How many of 100 requests are of each kind. */
const MIX: Readonly<Record<Kind, number>> = {
  "open route": 20,
  "route by session": 30,
  "page of 20 rows": 25,
  "GraphQL, 20 rows": 24,
  "sign-in": 1,
};
const KINDS = Object.keys(MIX) as Kind[];
/**
 * Requests per second that use about a third of a core. On an idle machine a request costs more, because the core has to wake up
 * for it.
 */
const PACE: Readonly<Record<Kind, number>> = {
  "open route": 400,
  "route by session": 200,
  "page of 20 rows": 130,
  "GraphQL, 20 rows": 130,
  "sign-in": 8,
};
const RUNS = [
  { processes: 1, perSecond: 150 },
  { processes: 2, perSecond: 300 },
  { processes: 3, perSecond: 450 },
];

/** A real run of the mix beside what the parts say about it: cores in use. */
export interface Comparison {
  readonly processes: number;
  readonly perSecond: number;
  readonly computed: number;
  readonly measured: number;
}

/** What `lab/bench/results/simulation.json` contains. */
export interface SimulationResults {
  readonly node: string;
  readonly parts: Parts;
  readonly runs: readonly Comparison[];
}

const place = await makeScalePlace();
try {
  const parts = await measureParts(place);
  const runs: Comparison[] = [];
  for (const run of RUNS) runs.push(await compare(place, parts, run));
  for (const { processes, perSecond, computed, measured } of runs)
    console.log(
      `simulate: ${processes} processes, ${perSecond} requests per second: ${computed.toFixed(3)} cores computed, ${measured.toFixed(3)} measured`,
    );
  const results: SimulationResults = { node: process.version, parts, runs };
  if (!isShort) keepResults("simulation", results, scalingPlot(results));
  const { processes, requestsPerSecond } = needsOf(parts, 1_000_000);
  console.log(
    `simulate: a million users send ${Math.round(requestsPerSecond)} requests per second and need ${processes} processes; the real runs differ by ${Math.round(100 * Math.max(...runs.map(({ computed, measured }) => Math.abs(measured / computed - 1))))}% at most`,
  );
} finally {
  await place.remove();
}

async function measureParts(on: ScalePlace): Promise<Parts> {
  const fleet = await Fleet.start(on, 1);
  try {
    await fleet.warm(MIX, SECONDS);
    const kinds: Parts["kinds"][number][] = [];
    for (const kind of KINDS) {
      const { node, redis, postgres } = await fleet.measure({ [kind]: 1 }, SECONDS, { perSecond: PACE[kind] });
      kinds.push({ kind, share: MIX[kind], node, redis, postgres });
      console.log(
        `  ${kind}: Node ${node.toFixed(0)}, Redis ${redis.toFixed(0)}, PostgreSQL ${postgres.toFixed(0)} µs`,
      );
    }
    const { rssKb, perCpuSecond } = await measureSockets("portico, shared", SOCKETS, 10);
    return {
      kinds,
      ...(await bytes(on)),
      socketBytes: rssKb * 1024,
      messageMicros: 1e6 / perCpuSecond,
    };
  } finally {
    fleet.stop();
  }
}

async function compare(
  on: ScalePlace,
  parts: Parts,
  { processes, perSecond }: (typeof RUNS)[number],
): Promise<Comparison> {
  const fleet = await Fleet.start(on, processes);
  try {
    await fleet.warm(MIX, SECONDS);
    const { node, redis, postgres } = await fleet.measure(MIX, SECONDS, { perSecond });
    const computed = parts.kinds.reduce(
      (total, kind) => total + (kind.share / 100) * (kind.node + kind.redis + kind.postgres),
      0,
    );
    return {
      processes,
      perSecond,
      computed: (computed * perSecond) / 1e6,
      measured: ((node + redis + postgres) * perSecond) / 1e6,
    };
  } finally {
    fleet.stop();
  }
}

/** Of the sessions that the sign-ins have left, and of the users. */
async function bytes({ settings }: ScalePlace): Promise<Pick<Parts, "sessionBytes" | "userBytes">> {
  const client = await createClient({ url: settings.redis }).connect();
  let [total, sessions] = [0, 0];
  for await (const keys of client.scanIterator({ COUNT: 1_000 }))
    for (const key of keys) {
      total += (await client.memoryUsage(key)) ?? 0;
      if (/\bsession:/.test(key)) sessions += 1;
    }
  client.destroy();
  const database = openDatabase(settings.database);
  const { rows } = await sql<{ each: string }>`
    select pg_total_relation_size('users') / count(*) as each from users`.execute(database);
  await database.destroy();
  return { sessionBytes: total / sessions, userBytes: Number(rows[0]?.each) };
}
