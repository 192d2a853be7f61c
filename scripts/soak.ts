import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Child } from "./soak/child.ts";
import type { Traffic } from "./soak/client.ts";
import type { Figures } from "./soak/figures.ts";
import { makePlace } from "./soak/place.ts";
import { type Leak, leaks, people } from "./soak/soak-settings.ts";
import { headings, row } from "./soak/table.ts";
import { heapGrowth, type Run, type Sample, verdict } from "./soak/verdict.ts";

// npm run soak -- [--minutes 30] [--short] [--rate 60] [--postgres] [--redis] [--leak heap]
// A server under mixed traffic of clients that behave, misbehave and hang up; afterwards nothing of them may be left in it.

const SHORT_SECONDS = 20;
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
  },
});
const seconds = values.short ? SHORT_SECONDS : positive("minutes", values.minutes) * 60;
const rate = positive("rate", values.rate);
const leak = (values.leak ?? null) as Leak | null;
if (leak !== null && !leaks.includes(leak)) throw new RangeError(`--leak is one of ${leaks.join(", ")}`);

const place = await makePlace(values.postgres, values.redis);
try {
  const server = new Child(new URL("soak/server.ts", import.meta.url), { ...place.settings, leak }, [
    "--expose-gc",
    "--disable-warning=ExperimentalWarning",
  ]);
  const run = await soak(server).finally(() => server.kill());
  report(run);
} finally {
  await place.clear();
}

async function soak(server: Child): Promise<Run> {
  const port = await server.hear<number>("port");
  const figures = (tell: "figures" | "everything"): Promise<Figures> => server.ask("figures", { tell });
  const idle = await figures("everything");

  const client = new Child(new URL("soak/client.ts", import.meta.url), { port, rate });
  const samples: Sample[] = [];
  let traffic: Traffic;
  try {
    await load(client, () => figures("figures"), samples);
    traffic = await client.ask<Traffic>("traffic", { stop: true });
    await client.ended(EXIT_MS);
  } finally {
    client.kill();
  }

  const deadline = performance.now() + SETTLE_MS;
  while (isBusy(await figures("figures")) && performance.now() < deadline) await sleep(500);
  const settled = await figures("everything");
  const closed = await server.ask<Figures>("figures", { close: true });
  const exitCode = await server.ended(EXIT_MS);
  const pooled = (values.postgres ? 10 : 0) + (values.redis ? 3 : 0);
  const count = people.members.length + people.visitors.length + people.targets.length;
  return { idle, samples, settled, closed, exitCode, traffic, rate, pooled, people: count };
}

async function load(client: Child, figures: () => Promise<Figures>, samples: Sample[]): Promise<void> {
  const everySeconds = Math.max(1, Math.min(10, seconds / 40));
  console.log(headings());
  const start = performance.now();
  const since = (): number => (performance.now() - start) / 1_000;
  while (since() < seconds) {
    await sleep(Math.min(everySeconds, seconds - since()) * 1_000);
    const sample = {
      figures: await figures(),
      traffic: await client.ask<Traffic>("traffic", { tell: true }),
      seconds: since(),
    };
    console.log(row(sample, samples.at(-1)));
    samples.push(sample);
  }
}

/** What a client had is let go of when the connection is seen to be gone, and some of it a little later. */
function isBusy({ dependencies, iterators, connections }: Figures): boolean {
  return dependencies + iterators + connections > 0;
}

function report(run: Run): void {
  const { samples, traffic, idle, settled } = run;
  const faults = verdict(run);
  console.log(`answers by status: ${JSON.stringify(traffic.statuses)}`);
  const { timers, windows, alive } = settled;
  console.log(`in memory afterwards: ${JSON.stringify({ ...alive, timers, windows })}, timers before: ${idle.timers}`);
  for (const fault of faults) console.log(`fault: ${fault}`);
  const grown = heapGrowth(samples) / 1024 ** 2;
  console.log(
    `soak: ${traffic.actions} actions in ${Math.round(samples.at(-1)?.seconds ?? 0)} s, the heap's trend ${grown.toFixed(2)} MB over the second half, ` +
      (faults.length === 0 ? "nothing is left" : `${faults.length} FAULTS`),
  );
  if (faults.length > 0) process.exitCode = 1;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`--${name} is a number above 0, not ${text}`);
  return value;
}
