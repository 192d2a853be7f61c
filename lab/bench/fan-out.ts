import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { heard } from "./sockets/heard.ts";
import { statsOf } from "./sockets/stats.ts";

const isShort = process.argv.includes("--short");
const SOCKETS = isShort ? 500 : 10_000;
const EVENTS = isShort ? 5 : 20;
const WARM_UP = 3;

const subjects: readonly { readonly bus: string; readonly script: string; readonly args: readonly string[] }[] = [
  ...["memory", "Redis", "NATS", "PostgreSQL"].map((bus) => ({ bus, script: "bus-server.ts", args: [bus] })),
  { bus: "Redis, shared subscription", script: "bus-server.ts", args: ["Redis", "--shared"] },
  { bus: "graphql-ws with Redis", script: "graphql-ws-server.ts", args: [] },
];

/**
 * Delivers events to many subscribers of one process over each bus, and with graphql-ws alone. Delays are from the publication to the arrival in the
 * process of the clients, which shares the machine. Messages per second and core count the CPU time of the server alone.
 */
export async function run(): Promise<void> {
  console.log(`${SOCKETS} subscribers, ${EVENTS} events`);
  console.log("| bus | p50 | p99 | messages per second and core |");
  console.log("|---|--:|--:|--:|");
  for (const { bus, script, args } of subjects) {
    const { delays, perCpuSecond } = await measure(script, args);
    const at = (share: number): string => `${Math.round(delays[Math.floor(delays.length * share)] ?? 0)} ms`;
    console.log(`| ${bus} | ${at(0.5)} | ${at(0.99)} | ${Math.round(perCpuSecond)} |`);
  }
  console.log("fan-out: every event reached every subscriber");
}

async function measure(
  script: string,
  args: readonly string[],
): Promise<{ readonly delays: readonly number[]; readonly perCpuSecond: number }> {
  const server = fork(new URL(`fan-out/${script}`, import.meta.url), args);
  const { port } = await heard<{ readonly port: number }>(server, "port");
  const clients = fork(new URL("fan-out/listeners.ts", import.meta.url), [String(port), String(SOCKETS)]);
  await heard(clients, "ready");
  // Subscriptions start after the acknowledgement that the clients wait for.
  await sleep(3_000);
  const delays: number[] = [];
  let began = await statsOf(server);
  for (let n = 0; n < WARM_UP + EVENTS; n++) {
    if (n === WARM_UP) began = await statsOf(server);
    const arrived = heard<{ readonly delays: readonly number[] }>(clients, "delays");
    server.send({ publish: n });
    const round = await arrived;
    if (n >= WARM_UP) delays.push(...round.delays);
  }
  const ended = await statsOf(server);
  clients.disconnect();
  server.disconnect();
  return {
    delays: delays.toSorted((a, b) => a - b),
    perCpuSecond: (EVENTS * SOCKETS) / ((ended.cpuMicros - began.cpuMicros) / 1e6),
  };
}
