import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
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

interface OverloadedRoute {
  readonly peak: Traffic;
  readonly during: Traffic;
  readonly after: Traffic;
}

const isShort = process.argv.includes("--short");
const SECONDS = isShort ? 6 : 30;
/** How much of its peak the server must still do at three times the load. The short form has no time to settle. */
const LEAST_SHARE = isShort ? 0.5 : 0.8;

/**
 * Finds the peak of a server by clients that wait for their responses, then sends three times as much, whatever comes back.
 * Goodput is compared with the peak of the same run, so a busy machine changes both.
 */
export async function run(): Promise<void> {
  const routes = { "/page": await overload("/page"), "/plain": await overload("/plain") };
  const least = Math.min(...Object.values(routes).map(({ peak, during }) => during.goodput / peak.goodput));
  const results: OverloadResults = { share: least, limit: LEAST_SHARE, routes };
  mkdirSync(".cache", { recursive: true });
  writeFileSync(".cache/overload.json", `${JSON.stringify(results, null, 2)}\n`);
  console.log(`bench overload: ${least.toFixed(2)} of the peak at three times the load (limit ${LEAST_SHARE})`);
  if (least < LEAST_SHARE) process.exitCode = 1;
}

async function overload(path: string): Promise<OverloadedRoute> {
  const server = fork(new URL("overload/server.ts", import.meta.url));
  const { port } = await heard<{ readonly port: number }>(server, "port");
  const client = new Client(port, path);
  await client.closedLoop(2, 16);
  const peak = await client.closedLoop(isShort ? 3 : 8, 32);
  const during = await client.openLoop(SECONDS, peak.goodput * 3);
  const after = await client.openLoop(5, peak.goodput / 2);
  client.close();
  server.disconnect();
  for (const [name, traffic] of Object.entries({ peak, during, after })) report(`${path} ${name}`, traffic);
  return { peak, during, after };
}

function report(name: string, { goodput, p90Ms, p99Ms, outcomes, withoutRetryAfter }: Traffic): void {
  console.log(
    `  ${name.padEnd(14)} ${goodput.toFixed(0).padStart(6)}/s, p90 ${p90Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ` +
      `${JSON.stringify(outcomes)}${withoutRetryAfter > 0 ? `, ${withoutRetryAfter} without Retry-After` : ""}`,
  );
}
