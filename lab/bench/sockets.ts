import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { heard } from "./sockets/heard.ts";
import { statsOf } from "./sockets/stats.ts";

const isShort = process.argv.includes("--short");
const SOCKETS = isShort ? 2_000 : 10_000;
const EVENTS = isShort ? 10 : 20;

const subjects: readonly { readonly name: string; readonly script: string; readonly args: readonly string[] }[] = [
  { name: "portico", script: "portico-server.ts", args: [] },
  { name: "portico, shared", script: "portico-server.ts", args: ["--shared"] },
  { name: "yoga + graphql-ws", script: "yoga-server.ts", args: [] },
  { name: "mercurius", script: "mercurius-server.ts", args: [] },
];

interface Figures {
  readonly name: string;
  readonly rssKb: number;
  readonly heapKb: number;
  readonly fanOutMs: number;
  readonly perCpuSecond: number;
}

/**
 * Many sockets with one subscription each in one process, their clients in another. Memory is what the server has more than
 * before, after collection; messages per second and core count the server's CPU time alone, since the clients share the machine.
 */
export async function run(): Promise<void> {
  const figures: Figures[] = [];
  for (const { name } of subjects) figures.push(await measureSockets(name, SOCKETS, EVENTS));
  console.log(`${SOCKETS} sockets with one subscription each; fan-out: the median of ${EVENTS} events to all of them`);
  for (const { name, rssKb, heapKb, fanOutMs, perCpuSecond } of figures)
    console.log(
      `  ${name.padEnd(20)} ${rssKb.toFixed(1).padStart(6)} kB RSS, ${heapKb.toFixed(1).padStart(5)} kB heap a socket; ` +
        `fan-out ${fanOutMs.toFixed(0).padStart(5)} ms; ${Math.round(perCpuSecond).toLocaleString("en").padStart(8)} messages per second and core`,
    );
  const shared = figures.find(({ name }) => name === "portico, shared");
  console.log(
    `bench sockets: ${Math.round(shared?.perCpuSecond ?? 0).toLocaleString("en")} messages per second and core with shared`,
  );
}

/** Measures one of the subjects: opens the sockets and sends the events to all of them. */
export async function measureSockets(name: string, sockets: number, events: number): Promise<Figures> {
  const subject = subjects.find((known) => known.name === name);
  if (subject === undefined) throw new Error(`there is no subject ${name}`);
  const { script, args } = subject;
  const server = fork(new URL(`sockets/${script}`, import.meta.url), args, { execArgv: ["--expose-gc"] });
  const { port } = await heard<{ readonly port: number }>(server, "port");
  await sleep(500);
  const before = await statsOf(server, "memory");
  const clients = fork(new URL("sockets/clients.ts", import.meta.url), [String(port), String(sockets)]);
  await heard(clients, "ready");
  await sleep(1_000);
  const idle = await statsOf(server, "memory");

  for (let n = 0; n < 3; n++) await fanOut(server, clients, n, sockets);
  const began = await statsOf(server);
  const times: number[] = [];
  for (let n = 0; n < events; n++) times.push(await fanOut(server, clients, n, sockets));
  const ended = await statsOf(server);
  clients.disconnect();
  await sleep(500);
  server.disconnect();

  const cpuSeconds = (ended.cpuMicros - began.cpuMicros) / 1e6;
  return {
    name,
    rssKb: (idle.rss - before.rss) / sockets / 1024,
    heapKb: (idle.heap - before.heap) / sockets / 1024,
    fanOutMs: times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN,
    perCpuSecond: (events * sockets) / cpuSeconds,
  };
}

async function fanOut(server: ChildProcess, clients: ChildProcess, n: number, sockets: number): Promise<number> {
  clients.send({ expect: sockets });
  await sleep(20);
  const began = performance.now();
  server.send({ publish: n });
  await heard(clients, "all");
  return performance.now() - began;
}
