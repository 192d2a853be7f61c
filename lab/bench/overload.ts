import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpuQuota } from "../servers/cpu-quota.ts";
import { stolenTime } from "./overload/stolen-time.ts";
import { TARGETS, type Target } from "./overload/targets.ts";
import type { Client, Traffic } from "./overload/traffic.ts";

/** What `.cache/overload.json` contains after a run. */
export interface OverloadResults {
  /** The least share of its peak that the server did in the overload. */
  readonly share: number;
  readonly limit: number;
  /** By their path. */
  readonly routes: Readonly<Record<string, OverloadedRoute>>;
}

export interface OverloadedRoute {
  readonly peak: Traffic;
  readonly during: Traffic;
  readonly after: Traffic;
  /** By the number of clients that wait for each response: how many of their requests were rejected. */
  readonly rejected?: Readonly<Record<number, number>>;
  /** For sign-ins: some requests to another route, without and with the overload. */
  readonly others?: { readonly before: Traffic; readonly during: Traffic };
}

const isShort = process.argv.includes("--short");
/** The load, as a multiple of the peak. */
const TIMES = option("times") ?? 3;
/** The CPU time of the server, in percent of a core. It needs root on Linux. */
const QUOTA = option("quota");
/** The number of processes that keep the cores busy meanwhile. */
const BESIDE = option("beside") ?? 0;
const ONLY = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const SECONDS = isShort ? 6 : 60;
/** How much of its peak the server must still do. The short form has no time to settle. */
const MIN_SHARE = isShort ? 0.5 : TIMES > 3 ? 0.6 : 0.8;
/** With less of a core, only the rejections of clients that wait for their responses matter. */
const MIN_QUOTA = 50;
const MAX_P99_MS = 500;
const CLOSED = isShort ? [8, 32, 256] : [8, 16, 32, 64, 128, 256];
const MAX_CLIENT_DELAY_MS = 200;
const OTHERS_PER_SECOND = 40;
/** Sign-ins are slow on purpose, so fewer clients are enough for a longer wait than a second. */
const MAX_SLOW_CLIENTS = 32;

/** A busy host can take the cores away after the peak was measured, so the short form tries again. */
const TRIES = isShort ? 3 : 1;

/**
 * Finds the peak of a server by clients that wait for their responses, then sends a multiple of it, whatever comes back. Goodput
 * is compared with the peak of the same run, so a busy machine changes both. Clients that lack a core themselves say nothing about
 * the server: the long form then fails, the short form has no result. `--times=7`, `--quota=50` (in percent of a core),
 * `--beside=8` (busy processes) and `--only=bookshop` change what is measured.
 */
export async function run(): Promise<void> {
  const routes: Record<string, OverloadedRoute> = {};
  for (const [name, start] of Object.entries(TARGETS))
    if (ONLY === undefined || ONLY === name) routes[name] = await judged(name, start);
  const least = Math.min(...Object.values(routes).map(shareOf));
  const results: OverloadResults = { share: least, limit: MIN_SHARE, routes };
  // Only the usual form is published.
  if (TIMES === 3 && QUOTA === undefined && BESIDE === 0 && ONLY === undefined) {
    mkdirSync(".cache", { recursive: true });
    writeFileSync(".cache/overload.json", `${JSON.stringify(results, null, 2)}\n`);
  }
  const late = Object.entries(routes).filter(([, route]) => !haveClientsKeptUp(route));
  for (const [path, { during }] of late)
    console.log(`bench overload: the clients of ${path} were ${during.clientDelayMs.toFixed(0)} ms late: not a result`);
  const faults = Object.entries(routes).flatMap(([path, route]) => faultsOf(route).map((fault) => `${path} ${fault}`));
  for (const fault of faults) console.log(`bench overload: ${fault}`);
  console.log(`bench overload: ${least.toFixed(2)} of the peak at ${TIMES} times the load (limit ${MIN_SHARE})`);
  if (faults.length > 0 || (!isShort && late.length > 0)) process.exitCode = 1;
}

/** The number after `--name=`. */
function option(name: string): number | undefined {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given === undefined ? undefined : Number(given.slice(name.length + 3));
}

const shareOf = ({ peak, during }: OverloadedRoute): number => during.goodput / peak.goodput;

/** What is worse than it must be. */
function faultsOf(route: OverloadedRoute): readonly string[] {
  const rejected = Object.entries(route.rejected ?? {}).filter(([, count]) => count > 0);
  const isJudged = haveClientsKeptUp(route) && (QUOTA === undefined || QUOTA >= MIN_QUOTA);
  const isQuiet = !isShort && QUOTA === undefined && BESIDE === 0;
  return [
    ...(isJudged && shareOf(route) < MIN_SHARE ? [`did ${shareOf(route).toFixed(2)} of its peak`] : []),
    ...(isJudged && isQuiet && route.others === undefined && route.during.p99Ms >= MAX_P99_MS
      ? [`had a p99 of ${route.during.p99Ms.toFixed(0)} ms`]
      : []),
    ...rejected.map(
      ([clients, count]) => `rejected ${count} requests of ${clients} clients that wait for each response`,
    ),
  ];
}

/** Overloads the route until a run is within the limits, and returns the last run. */
async function judged(name: string, start: () => Promise<Target>): Promise<OverloadedRoute> {
  for (let attempt = 1; ; attempt++) {
    const route = await overload(name, start);
    if (attempt === TRIES || (haveClientsKeptUp(route) && faultsOf(route).length === 0)) return route;
  }
}

/** Otherwise the figures of the route say little about the server. */
export function haveClientsKeptUp({ during }: OverloadedRoute): boolean {
  return during.clientDelayMs <= MAX_CLIENT_DELAY_MS;
}

async function overload(name: string, start: () => Promise<Target>): Promise<OverloadedRoute> {
  const target = await start();
  const endQuota = QUOTA === undefined ? undefined : cpuQuota(target.pid, QUOTA / 100);
  const busy = Array.from({ length: BESIDE }, () => spawn(process.execPath, ["-e", "for (;;);"]));
  try {
    return await measured(name, target);
  } finally {
    for (const child of busy) child.kill("SIGKILL");
    await target.close();
    endQuota?.();
  }
}

async function measured(name: string, { client, other }: Target): Promise<OverloadedRoute> {
  await client.closedLoop(2, 16);
  const before = await other?.openLoop(isShort ? 3 : 8, OTHERS_PER_SECOND);
  const stolen = stolenTime();
  const peak = await client.closedLoop(isShort ? 3 : 8, 32);
  const rejected = await closedLoops(client, other === undefined ? Number.POSITIVE_INFINITY : MAX_SLOW_CLIENTS);
  const [during, otherDuring] = await Promise.all([
    client.openLoop(SECONDS, peak.goodput * TIMES),
    other?.openLoop(SECONDS, OTHERS_PER_SECOND),
  ]);
  const after = await client.openLoop(5, peak.goodput / 2);
  client.close();
  other?.close();
  for (const [part, traffic] of Object.entries({ peak, during, after })) report(`${name} ${part}`, traffic);
  console.log(`  ${name} rejections of as many clients that wait for each response: ${JSON.stringify(rejected)}`);
  console.log(`  the host gave ${(100 * stolen()).toFixed(0)}% of the time of the cores to others`);
  if (before === undefined || otherDuring === undefined) return { peak, during, after, rejected };
  report("others before", before);
  report("others during", otherDuring);
  return { peak, during, after, rejected, others: { before, during: otherDuring } };
}

/** How many requests are rejected in closed loops of so many clients. */
async function closedLoops(client: Client, most: number): Promise<Readonly<Record<number, number>>> {
  const rejected: Record<number, number> = {};
  for (const clients of CLOSED) {
    if (clients > most) break;
    const { outcomes } = await client.closedLoop(isShort ? 2 : 5, clients);
    rejected[clients] = outcomes["503"] ?? 0;
  }
  return rejected;
}

function report(name: string, { goodput, p90Ms, p99Ms, outcomes, withoutRetryAfter }: Traffic): void {
  console.log(
    `  ${name.padEnd(21)} ${goodput.toFixed(0).padStart(6)}/s, p90 ${p90Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ` +
      `${JSON.stringify(outcomes)}${withoutRetryAfter > 0 ? `, ${withoutRetryAfter} without Retry-After` : ""}`,
  );
}
