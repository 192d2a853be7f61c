import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import type { Failpoint } from "../src/core/work/failpoint.ts";
import { migrate, openDatabase } from "../src/sql/index.ts";
import { ChangeStream } from "./durable/change-stream.ts";
import type { DurableServerSettings } from "./durable/durable-server.ts";
import { overlapWriters } from "./durable/overlap-writers.ts";
import { ownSchema } from "./servers/own-schema.ts";

// npm run durable -- [--minutes 30] [--short] [--writers 64 --commits 20000]
// Kills the processes of an application at each step between a commit and the delivery of its event, while clients write and
// subscribe. Each committed change must reach every consumer, and every subscriber in order and once, although its connection is
// dropped for 0.1 to 5 seconds again and again. With --writers, it
// checks instead that overlapping transactions make the relay skip and reorder nothing.

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    short: { type: "boolean", default: false },
    processes: { type: "string", default: "4" },
    subscribers: { type: "string", default: "200" },
    writers: { type: "string" },
    commits: { type: "string", default: "20000" },
  },
});
const FAILPOINTS: readonly Failpoint[] = [
  "before-write",
  "before-commit",
  "after-commit",
  "after-ring",
  "relay-sampled",
  "relay-settled",
  "relay-announced",
  "events-read",
  "event-handled",
  "position-stored",
];
const GROUPS = 20;
const minutes = values.short ? 0.75 : Number(values.minutes);
const subscriberCount = values.short ? 40 : Number(values.subscribers);
const place = `durable_${randomBytes(6).toString("hex")}`;
const schema = await ownSchema(place);
const database = openDatabase<any>(schema.url);
const faults: string[] = [];
try {
  await migrate(database, "up");
  if (values.writers === undefined) await run();
  else
    faults.push(
      ...(await overlapWriters({
        database,
        url: schema.url,
        writers: Number(values.writers),
        commits: Number(values.commits),
      })),
    );
} finally {
  await database.destroy();
  await schema.drop();
}
for (const fault of faults.slice(0, 20)) console.error(`fault: ${fault}`);
console.log(faults.length === 0 ? "durable: no faults" : `durable: ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);

/** A server process. After it was killed, the next one takes its place. */
interface Running {
  child: ChildProcess | null;
  port: number | null;
}

async function run(): Promise<void> {
  await sql`create table durable_groups (name text primary key, n bigint not null)`.execute(database);
  await sql`create table durable_log (id bigserial primary key, name text not null, n bigint not null)`.execute(
    database,
  );
  await sql`create table durable_ledger (name text not null, n bigint not null, primary key (name, n))`.execute(
    database,
  );
  for (let group = 0; group < GROUPS; group++)
    await sql`insert into durable_groups values (${`g${group}`}, 0)`.execute(database);
  const hits = new Map<Failpoint, number>(FAILPOINTS.map((name) => [name, 0]));
  const places: Running[] = Array.from({ length: Number(values.processes) }, () => ({ child: null, port: null }));
  const over = new AbortController();
  let starts = 0;

  const keepRunning = async (running: Running): Promise<void> => {
    while (!over.signal.aborted) {
      const failpoint = FAILPOINTS[starts++ % FAILPOINTS.length] as Failpoint;
      const settings: DurableServerSettings = { url: schema.url };
      const child = fork(new URL("durable/durable-server.ts", import.meta.url), [JSON.stringify(settings)], {
        execArgv: ["--no-warnings"],
        env: {
          ...process.env,
          NODE_ENV: "test",
          PORTICO_FAILPOINT: failpoint,
          PORTICO_FAILPOINT_PASSES: String(2 + ((starts * 7) % 12)),
        },
      });
      running.child = child;
      child.once("message", (message: { readonly port: number }) => {
        running.port = message.port;
      });
      const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
        child.once("exit", (_code, given) => resolve(given)),
      );
      running.port = null;
      if (!over.signal.aborted && signal === "SIGKILL") hits.set(failpoint, (hits.get(failpoint) ?? 0) + 1);
      else if (!over.signal.aborted) {
        faults.push(`a process ended with ${signal} at ${failpoint}`);
        over.abort();
      }
    }
  };
  const running = places.map(keepRunning);
  const streams = Array.from({ length: subscriberCount }, (_, index) => new ChangeStream(`g${index % GROUPS}`, faults));
  let connections = 0;
  const ports = (): readonly number[] => places.flatMap(({ port }) => port ?? []);

  const follow = async (stream: ChangeStream, index: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round++) {
      const port = ports()[index % Math.max(1, ports().length)];
      if (port === undefined) {
        await sleep(50);
        continue;
      }
      connections++;
      const drop = setTimeout(() => stream.drop(), 500 + ((index * 137 + round * 911) % 4_000));
      await stream.run(port, (index + round) % 2 === 0 ? "WebSocket" : "SSE");
      clearTimeout(drop);
      await sleep(100 + ((index * 71 + round * 1_337) % 4_900));
    }
  };
  const following = streams.map(follow);

  let [written, unknown] = [0, 0];
  const write = async (index: number): Promise<void> => {
    for (let n = 0; !over.signal.aborted; n++) {
      const all = ports();
      const port = all[(index + n) % Math.max(1, all.length)];
      if (port === undefined) {
        await sleep(20);
        continue;
      }
      const response = await fetch(`http://127.0.0.1:${port}/groups/g${(index * 7 + n) % GROUPS}`, {
        method: "POST",
      }).catch(() => null);
      if (response?.ok === true) written++;
      else unknown++;
      await sleep(25);
    }
  };
  const writing = Array.from({ length: 6 }, (_, index) => write(index));

  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) await sleep(500);
  over.abort();
  await Promise.all(writing);
  for (const { child } of places) child?.kill("SIGKILL");
  await Promise.all(running);
  for (const stream of streams) stream.drop();
  await Promise.all(following);
  await finish(streams);
  const delivered = streams.reduce((sum, stream) => sum + stream.count, 0);
  const committed = await count("select coalesce(sum(n), 0) as count from durable_groups");
  const log = await count("select count(*) as count from durable_log");
  console.log(
    `${committed} changes committed (${written} acknowledged, ${unknown} requests without a response), ${delivered} events to ${subscriberCount} subscribers on ${connections} connections`,
  );
  console.log(`kills: ${[...hits].map(([name, n]) => `${name} ${n}`).join(", ")}`);
  console.log(`consumer at least once: ${log - committed} of ${log} calls repeated an event`);
}

/** Lets one process handle what is left, and all subscribers resume there, then compares the tables. */
async function finish(streams: readonly ChangeStream[]): Promise<void> {
  const last = fork(
    new URL("durable/durable-server.ts", import.meta.url),
    [JSON.stringify({ url: schema.url } satisfies DurableServerSettings)],
    { execArgv: ["--no-warnings"], env: { ...process.env, NODE_ENV: "test" } },
  );
  const [{ port }] = (await once(last, "message")) as [{ readonly port: number }];
  const followed = streams.map((stream, index) => stream.run(port, index % 2 === 0 ? "WebSocket" : "SSE"));
  const committed = await count("select coalesce(sum(n), 0) as count from durable_groups");
  const handled = (): Promise<number> => count("select count(*) as count from durable_ledger");
  const logged = (): Promise<number> =>
    count("select count(*) as count from (select distinct name, n from durable_log) as d");
  for (let waits = 0; waits < 240 && ((await handled()) < committed || (await logged()) < committed); waits++)
    await sleep(250);
  const { rows } = await sql.raw<{ name: string; n: string }>("select name, n from durable_groups").execute(database);
  const numbers = new Map(rows.map(({ name, n }) => [name, Number(n)]));
  const late = (): readonly ChangeStream[] =>
    streams.filter(({ group, last: n }) => n !== (numbers.get(group) ?? null));
  for (let waits = 0; waits < 120 && late().length > 0; waits++) await sleep(250);
  for (const { group, last: n } of late())
    faults.push(`a subscriber of ${group} has ${n} of ${numbers.get(group)} changes`);
  last.kill("SIGKILL");
  await Promise.all(followed);
  const [ledger, distinct] = [await handled(), await logged()];
  if (ledger !== committed) faults.push(`the transactional consumer handled ${ledger} of ${committed} changes`);
  if (distinct !== committed) faults.push(`the consumer received ${distinct} of ${committed} changes`);
  const early = await count(`
    select count(*) as count from (
      select n, max(n) over (partition by name order by id rows between unbounded preceding and 1 preceding) as before
      from (select name, n, min(id) as id from durable_log group by name, n) as firsts) as ordered where n < before`);
  if (early > 0) faults.push(`the consumer received ${early} changes out of order`);
}

async function count(query: string): Promise<number> {
  const { rows } = await sql.raw<{ count: string }>(query).execute(database);
  return Number(rows[0]?.count);
}
