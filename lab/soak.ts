import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Child } from "./servers/child.ts";
import type { Traffic } from "./soak/client.ts";
import { makeFaultPlace } from "./soak/faults/fault-place.ts";
import { type KeptFaultResults, runFaults } from "./soak/faults/fault-run.ts";
import { faultKinds, networkFaults } from "./soak/faults/fault-windows.ts";
import type { Figures } from "./soak/figures.ts";
import { makePlace } from "./soak/place.ts";
import { ServerProcess } from "./soak/server-process.ts";
import { leaks, people } from "./soak/soak-settings.ts";
import { headings, row } from "./soak/table.ts";
import { heapGrowth, MIN_SHARE, type Run, type Sample, starvedShare, verdict } from "./soak/verdict.ts";

// npm run soak -- [--minutes 30] [--short] [--rate 60] [--postgres] [--redis] [--leak heap] [--faults redis,silence or all]
// A server under mixed traffic of clients that behave, misbehave and hang up; afterwards nothing of them may be left in it.

const FAULT_RESULTS = ".cache/soak-faults.json";
const SHORT_SECONDS = 20;
const SHORT_FAULT_SECONDS = 12;
/** The load after the last fault. */
const SHORT_QUIET_SECONDS = 8;
const QUIET_SECONDS = 60;
/** For a trend of the heap, however slow the machine is. */
const MIN_SAMPLES = 6;
/** How many times as long as planned the load may take. */
const MAX_TIMES = 10;
const SETTLE_MS = 15_000;
const EXIT_MS = 5_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    short: { type: "boolean", default: false },
    rate: { type: "string", default: "60" },
    postgres: { type: "boolean", default: false },
    redis: { type: "boolean", default: false },
    leak: { type: "string" },
    faults: { type: "string" },
  },
});
const minutes = positive("minutes", values.minutes);
const rate = positive("rate", values.rate);
const leak = values.leak === undefined ? null : oneOf("leak", values.leak, leaks);
const kinds =
  values.faults === "all"
    ? faultKinds
    : (values.faults?.split(",") ?? []).map((kind) => oneOf("faults", kind, faultKinds));

if (values.faults === undefined) await soakPlainly();
else await soakUnderFaults();

async function soakPlainly(): Promise<void> {
  const place = await makePlace(values.postgres, values.redis);
  try {
    const pooled = (values.postgres ? 10 : 0) + (values.redis ? 3 : 0);
    const server = await ServerProcess.start({ ...place.settings, leak, faults: null });
    report(await soak(server, values.short ? SHORT_SECONDS : minutes * 60, pooled).finally(() => server.kill()), []);
  } finally {
    await place.clear();
  }
}

/** Faults first. Then the load as always, for which nothing is excused. */
async function soakUnderFaults(): Promise<void> {
  const place = await makeFaultPlace(kinds.some((kind) => networkFaults.includes(kind)));
  try {
    const server = await ServerProcess.start({ ...place.settings, leak, faults: { restartedOn: null } });
    try {
      const seconds = values.short ? SHORT_FAULT_SECONDS : minutes * 60;
      const results = await runFaults(place, server, { kinds, seconds, rate });
      const quiet = await soak(server, values.short ? SHORT_QUIET_SECONDS : QUIET_SECONDS, 13);
      const kept: KeptFaultResults = {
        ...results,
        violations: report(quiet, results.violations),
        quiet: { seconds: quiet.samples.at(-1)?.seconds ?? 0, starvedShare: starvedShare(quiet.samples) },
      };
      mkdirSync(".cache", { recursive: true });
      writeFileSync(FAULT_RESULTS, `${JSON.stringify(kept, null, 2)}\n`);
    } finally {
      server.kill();
    }
  } finally {
    await place.clear();
  }
}

async function soak(server: ServerProcess, seconds: number, pooled: number): Promise<Run> {
  const { port, idle } = server;
  const client = new Child(new URL("soak/client.ts", import.meta.url), { port, rate });
  const samples: Sample[] = [];
  let traffic: Traffic;
  try {
    await load(client, server, seconds, samples);
    traffic = await client.ask<Traffic>("traffic", { stop: true });
    await client.ended(EXIT_MS);
  } finally {
    client.kill();
  }

  const deadline = performance.now() + SETTLE_MS;
  while (isBusy(await server.figures("figures")) && performance.now() < deadline) await sleep(500);
  const settled = await server.figures("everything");
  const { closed, exitCode } = await server.close();
  const count = people.members.length + people.visitors.length + people.targets.length;
  return { idle, samples, settled, closed, exitCode, traffic, rate, plannedSeconds: seconds, pooled, people: count };
}

async function load(client: Child, server: ServerProcess, seconds: number, samples: Sample[]): Promise<void> {
  const everySeconds = Math.max(1, Math.min(10, seconds / 40));
  console.log(headings());
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1_000;
  // On a slow machine the load goes on until enough is done to be judged.
  const isEnough = (): boolean =>
    since() >= MAX_TIMES * seconds ||
    (samples.length >= MIN_SAMPLES && (samples.at(-1)?.traffic.actions ?? 0) >= MIN_SHARE * rate * seconds);
  while (since() < seconds || !isEnough()) {
    await sleep(Math.max(0.1, Math.min(everySeconds, seconds - since())) * 1_000);
    const sample = {
      figures: await server.figures("figures"),
      traffic: await client.ask<Traffic>("traffic", { tell: true }),
      seconds: since(),
    };
    console.log(row(sample, samples.at(-1)));
    samples.push(sample);
  }
}

/** What a client had is let go of when the connection is seen to be gone, and a part of this a little later. */
function isBusy({ dependencies, iterators, connections }: Figures): boolean {
  return dependencies + iterators + connections > 0;
}

function report(run: Run, before: readonly string[]): readonly string[] {
  const { samples, traffic, idle, settled } = run;
  const faults = [...before, ...verdict(run)];
  console.log(`answers by status: ${JSON.stringify(traffic.statuses)}`);
  const { timers, windows, alive } = settled;
  console.log(`in memory afterwards: ${JSON.stringify({ ...alive, timers, windows })}, timers before: ${idle.timers}`);
  for (const fault of faults) console.log(`fault: ${fault}`);
  // A server that waits for a core misses its deadlines, whatever it is connected to.
  console.log(`the server waited for a core for ${Math.round(100 * starvedShare(samples))}% of the time`);
  const grown = heapGrowth(samples) / 1024 ** 2;
  console.log(
    `soak: ${traffic.actions} actions in ${Math.round(samples.at(-1)?.seconds ?? 0)} s, the heap's trend ${grown.toFixed(2)} MB over the second half, ` +
      (faults.length === 0 ? "nothing is left" : `${faults.length} FAULTS`),
  );
  if (faults.length > 0) process.exitCode = 1;
  return faults;
}

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === text);
  if (choice === undefined) throw new RangeError(`--${name} takes ${choices.join(", ")}, not ${text}`);
  return choice;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`--${name} is a number above 0, not ${text}`);
  return value;
}
