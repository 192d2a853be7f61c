import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { heard } from "./sockets/heard.ts";
import { type Stats, statsOf } from "./sockets/stats.ts";

const isShort = process.argv.includes("--short");
const SOCKETS = isShort ? 200 : 500;
const EVENTS = isShort ? 400 : 800;
/** How long one round of the event loop may take during the burst, in milliseconds of CPU time. */
const MAX_MS = 50;
/** The same as a share of the whole burst, for the short form: without turns, one round delivers everything. */
const MAX_SHARE = 0.25;
const TRIES = 3;

/**
 * Publishes many events at once to many subscribers, and reports the longest time for which the server's event loop served
 * nothing else. A busy host stretches CPU time as well, so the short form judges shares of one run, and tries again.
 */
export async function run(): Promise<void> {
  for (let attempt = 1; attempt <= (isShort ? TRIES : 1); attempt++)
    if (isWithin([await burst("own", []), await burst("shared", ["--shared"])])) return;
  process.exitCode = 1;
}

/** Prints the results, and returns whether they are within the limit. */
function isWithin(results: readonly Burst[]): boolean {
  for (const { name, seconds, cpuSeconds, longestRound } of results)
    console.log(
      `  ${name.padEnd(8)} ${SOCKETS} subscribers x ${EVENTS} events in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU time; longest round of the event loop ` +
        `${longestRound.ms.toFixed(0)} ms, ${longestRound.cpuMs.toFixed(0)} ms of CPU time`,
    );
  const worst = Math.max(...results.map(({ longestRound }) => longestRound.cpuMs));
  const share = Math.max(...results.map(({ cpuSeconds, longestRound }) => longestRound.cpuMs / cpuSeconds / 1000));
  const limit = isShort ? `${MAX_SHARE} of the burst` : `${MAX_MS} ms`;
  console.log(
    `bench burst: longest standstill ${worst.toFixed(0)} ms, ${share.toFixed(2)} of the burst (limit ${limit})`,
  );
  return isShort ? share <= MAX_SHARE : worst <= MAX_MS;
}

interface Burst {
  readonly name: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly longestRound: Stats["longestRound"];
}

async function burst(name: string, args: readonly string[]): Promise<Burst> {
  const server = fork(new URL("sockets/portico-server.ts", import.meta.url), args);
  const { port } = await heard<{ readonly port: number }>(server, "port");
  const clients = fork(new URL("sockets/clients.ts", import.meta.url), [String(port), String(SOCKETS)]);
  await heard(clients, "ready");
  await sleep(500);
  let seconds = 0;
  let before = await statsOf(server);
  // The first burst warms up.
  for (const events of [50, EVENTS]) {
    clients.send({ expect: SOCKETS * events });
    await sleep(50);
    before = await statsOf(server);
    const began = performance.now();
    const all = heard(clients, "all");
    server.send({ burst: events });
    await all;
    seconds = (performance.now() - began) / 1000;
  }
  const after = await statsOf(server);
  clients.disconnect();
  server.disconnect();
  const cpuSeconds = (after.cpuMicros - before.cpuMicros) / 1e6;
  return { name, seconds, cpuSeconds, longestRound: after.longestRound };
}
