import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { Balancer } from "./rolling/balancer.ts";
import { Load } from "./rolling/load.ts";
import type { RollingServerSettings } from "./rolling/server.ts";
import { Child } from "./servers/child.ts";
import { forgetKeys } from "./servers/forget-keys.ts";
import { ownSchema } from "./servers/own-schema.ts";

// npm run rolling -- [--restarts 20] [--processes 2] [--short]
// Replaces the processes of the bookshop one by one, under load and behind a balancer that follows readiness. Any failed
// request or lost subscription makes the run fail. The short form has two restarts.

interface Running {
  readonly child: Child;
  readonly port: number;
}

const EXIT_MS = 60_000;
const REDIS = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const { values } = parseArgs({
  options: {
    restarts: { type: "string", default: "20" },
    processes: { type: "string", default: "2" },
    short: { type: "boolean", default: false },
  },
});
const [restarts, processes] = [values.short ? 2 : Number(values.restarts), Number(values.processes)];
if (!(restarts > 0 && processes > 1)) throw new RangeError("--restarts is above 0, and --processes above 1");
// Otherwise as in production: 5 s each.
const shutdown = values.short ? { delaySeconds: 3, socketSeconds: 1 } : {};
// A busy machine must not make the servers shed load.
const load = { report: true };

const place = `rolling_${randomBytes(6).toString("hex")}`;
const schema = await ownSchema(place);
const environment = {
  NODE_ENV: "production",
  DATABASE_URL: schema.url,
  REDIS_URL: REDIS,
  REDIS_PREFIX: place,
  SECRET: randomBytes(32).toString("base64"),
  PUBLIC_URL: "http://shop.example",
};
const running: Running[] = [];
const balancer = await Balancer.start();
const drains: number[] = [];
try {
  for (let n = 0; n < processes; n++) await start(n === 0);
  const clients = new Load(balancer.url);
  await clients.start();
  await clients.settle();
  for (let n = 1; n <= restarts; n++) {
    await start(false);
    drains.push(await stopOldest());
    console.log(`restart ${n} of ${restarts}: drained in ${((drains.at(-1) ?? 0) / 1000).toFixed(1)} s`);
  }
  await clients.settle();
  const { requests, repeated, reconnections, failures, slowestMs } = await clients.end();
  for (const [failure, times] of Object.entries(Object.groupBy(failures, (text) => text)))
    console.log(`${times?.length ?? 0} x ${failure}`);
  console.log(
    `slowest request ${Math.round(slowestMs.short)} ms, of 3 s ${Math.round(slowestMs.long)} ms; ` +
      `${reconnections} reconnections of subscriptions; longest drain ${(Math.max(...drains) / 1000).toFixed(1)} s`,
  );
  console.log(
    `rolling: ${restarts} restarts, ${requests} requests, ${failures.length} failed, ${repeated} repeated on a closed connection`,
  );
  if (failures.length > 0) process.exitCode = 1;
} finally {
  for (const { child } of running) child.kill();
  await balancer.close();
  await forgetKeys(REDIS, place);
  await schema.drop();
}

async function start(isFirst: boolean): Promise<void> {
  const settings: RollingServerSettings = { seed: isFirst ? { books: 200, users: 10 } : null, app: { shutdown, load } };
  const doors = new URL("../examples/bookshop/test/doors.mjs", import.meta.url).href;
  const child = new Child(
    new URL("rolling/server.ts", import.meta.url),
    settings,
    ["--no-warnings", "--import", doors],
    environment,
  );
  try {
    const port = await child.hear<number>("port");
    running.push({ child, port });
    await balancer.add(port);
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** Returns the time from the signal to the end of the process, which has to end by itself. */
async function stopOldest(): Promise<number> {
  const oldest = running.shift();
  if (oldest === undefined) throw new Error("no process is left");
  const began = performance.now();
  oldest.child.signal("SIGTERM");
  const code = await oldest.child.ended(EXIT_MS);
  balancer.remove(oldest.port);
  if (code !== 0) throw new Error(`a process ended with ${code} after SIGTERM`);
  return performance.now() - began;
}
