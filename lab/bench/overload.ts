import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { ANN } from "./overload/ann.ts";
import { stolenTime } from "./overload/stolen-time.ts";
import { Client, type Traffic } from "./overload/traffic.ts";
import { heard } from "./sockets/heard.ts";

/** What `.cache/overload.json` contains after a run. */
export interface OverloadResults {
  /** The least share of its peak that the server did at three times the load. */
  readonly share: number;
  readonly limit: number;
  /** By their path. */
  readonly routes: Readonly<Record<string, OverloadedRoute>>;
}

export interface OverloadedRoute {
  readonly peak: Traffic;
  readonly during: Traffic;
  readonly after: Traffic;
  /** For sign-ins: some requests to another route, without and with the overload. */
  readonly others?: { readonly before: Traffic; readonly during: Traffic };
}

const LOGIN = "/account/login";
const isShort = process.argv.includes("--short");
const SECONDS = isShort ? 6 : 60;
/** How much of its peak the server must still do at three times the load. The short form has no time to settle. */
const MIN_SHARE = isShort ? 0.5 : 0.8;
const MAX_CLIENT_DELAY_MS = 200;
const OTHERS_PER_SECOND = 40;

/** A busy host can take the cores away after the peak was measured, so the short form tries again. */
const TRIES = isShort ? 3 : 1;

/**
 * Finds the peak of a server by clients that wait for their responses, then sends three times as much, whatever comes back.
 * Goodput is compared with the peak of the same run, so a busy machine changes both. Clients that lack a core themselves say
 * nothing about the server: the long form then fails, the short form has no result.
 */
export async function run(): Promise<void> {
  const routes = {
    "/page": await judged("/page", (port) => Client.get(port, "/page")),
    "/plain": await judged("/plain", (port) => Client.get(port, "/plain")),
    [LOGIN]: await judged(
      LOGIN,
      (port) => Client.post(port, LOGIN, ANN),
      (port) => Client.get(port, "/plain"),
    ),
  };
  const least = Math.min(...Object.values(routes).map(shareOf));
  const results: OverloadResults = { share: least, limit: MIN_SHARE, routes };
  mkdirSync(".cache", { recursive: true });
  writeFileSync(".cache/overload.json", `${JSON.stringify(results, null, 2)}\n`);
  const late = Object.entries(routes).filter(([, route]) => !haveClientsKeptUp(route));
  for (const [path, { during }] of late)
    console.log(`bench overload: the clients of ${path} were ${during.clientDelayMs.toFixed(0)} ms late: not a result`);
  console.log(`bench overload: ${least.toFixed(2)} of the peak at three times the load (limit ${MIN_SHARE})`);
  const isLow = Object.values(routes).some((route) => haveClientsKeptUp(route) && shareOf(route) < MIN_SHARE);
  if (isLow || (!isShort && late.length > 0)) process.exitCode = 1;
}

const shareOf = ({ peak, during }: OverloadedRoute): number => during.goodput / peak.goodput;

/** Overloads the route until a run is within the limit, and returns the last run. */
async function judged(...given: Parameters<typeof overload>): Promise<OverloadedRoute> {
  for (let attempt = 1; ; attempt++) {
    const route = await overload(...given);
    if (attempt === TRIES || (haveClientsKeptUp(route) && shareOf(route) >= MIN_SHARE)) return route;
  }
}

/** Otherwise the figures of the route say little about the server. */
export function haveClientsKeptUp({ during }: OverloadedRoute): boolean {
  return during.clientDelayMs <= MAX_CLIENT_DELAY_MS;
}

type Connect = (port: number) => Client;

async function overload(path: string, connect: Connect, connectOthers?: Connect): Promise<OverloadedRoute> {
  const server = fork(new URL("overload/server.ts", import.meta.url));
  const { port } = await heard<{ readonly port: number }>(server, "port");
  const client = connect(port);
  const other = connectOthers?.(port);
  await client.closedLoop(2, 16);
  const before = await other?.openLoop(isShort ? 3 : 8, OTHERS_PER_SECOND);
  const stolen = stolenTime();
  const peak = await client.closedLoop(isShort ? 3 : 8, 32);
  const [during, otherDuring] = await Promise.all([
    client.openLoop(SECONDS, peak.goodput * 3),
    other?.openLoop(SECONDS, OTHERS_PER_SECOND),
  ]);
  const after = await client.openLoop(5, peak.goodput / 2);
  client.close();
  other?.close();
  server.disconnect();
  for (const [name, traffic] of Object.entries({ peak, during, after })) report(`${path} ${name}`, traffic);
  console.log(`  the host gave ${(100 * stolen()).toFixed(0)}% of the time of the cores to others`);
  if (before === undefined || otherDuring === undefined) return { peak, during, after };
  report("others before", before);
  report("others during", otherDuring);
  return { peak, during, after, others: { before, during: otherDuring } };
}

function report(name: string, { goodput, p90Ms, p99Ms, outcomes, withoutRetryAfter }: Traffic): void {
  console.log(
    `  ${name.padEnd(21)} ${goodput.toFixed(0).padStart(6)}/s, p90 ${p90Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ` +
      `${JSON.stringify(outcomes)}${withoutRetryAfter > 0 ? `, ${withoutRetryAfter} without Retry-After` : ""}`,
  );
}
