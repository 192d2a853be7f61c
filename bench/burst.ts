import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { heard } from "./sockets/heard.ts";
import { type Stats, statsOf } from "./sockets/stats.ts";

const isShort = process.argv.includes("--short");
const SOCKETS = isShort ? 200 : 500;
const EVENTS = isShort ? 400 : 800;
/** What one round of the event loop may take during the burst, in ms of CPU time. The short form leaves room for a collection. */
const MOST_MS = isShort ? 100 : 50;

/**
 * Publishes many events at once to many subscribers, and reports the longest time for which the server's event loop served
 * nothing else. It fails by CPU time: another process on the machine cannot change that.
 */
export async function run(): Promise<void> {
  const results = [await burst("own", []), await burst("shared", ["--shared"])];
  for (const { name, seconds, cpuSeconds, longestRound } of results)
    console.log(
      `  ${name.padEnd(8)} ${SOCKETS} subscribers x ${EVENTS} events in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU time; longest round of the event loop ` +
        `${longestRound.ms.toFixed(0)} ms, ${longestRound.cpuMs.toFixed(0)} ms of CPU time`,
    );
  const worst = Math.max(...results.map(({ longestRound }) => longestRound.cpuMs));
  console.log(`bench burst: longest standstill ${worst.toFixed(0)} ms (limit ${MOST_MS} ms)`);
  if (worst > MOST_MS) process.exitCode = 1;
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
