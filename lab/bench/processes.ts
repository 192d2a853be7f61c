import { Child } from "../servers/child.ts";
import { Client } from "./overload/traffic.ts";
import { Fleet, type Kind } from "./scale/fleet.ts";
import { makeScalePlace, type ScalePlace } from "./scale/scale-place.ts";
import type { Stats } from "./sockets/stats.ts";

const isShort = process.argv.includes("--short");
const SECONDS = isShort ? 2 : 6;
const ROUNDS = isShort ? 1 : 3;
/** For one process. */
const PER_SECOND = 20;
const MANY = 10;
const KINDS: readonly Kind[] = ["open route", "route by session", "page of 20 rows", "GraphQL, 20 rows"];

/** CPU time for one request in microseconds, by what is measured. */
type Costs = Readonly<Record<string, number>>;

/**
 * What a request costs with one process and with ten: CPU time of Node, Redis and PostgreSQL. Ten processes get ten times the load
 * of one, or share what one gets. A core that wakes up for each request needs more time for it, so Node alone is measured, too.
 */
export async function run(): Promise<void> {
  const place = await makeScalePlace();
  try {
    const few = await measure(place, 1, PER_SECOND);
    const one = await measure(place, 1, PER_SECOND * MANY);
    const ten = await measure(place, MANY, PER_SECOND * MANY);
    console.log("| CPU time for one request | one process, 20/s | one process, 200/s | ten processes, 200/s |");
    console.log("|---|--:|--:|--:|");
    for (const kind of Object.keys(ten)) {
      const cell = (costs: Costs): string => `${Math.round(costs[kind] ?? 0)} µs`;
      const ratio = (to: Costs): string => ((ten[kind] ?? 0) / (to[kind] ?? 0)).toFixed(2);
      console.log(`| ${kind} | ${cell(few)} (${ratio(few)}) | ${cell(one)} (${ratio(one)}) | ${cell(ten)} |`);
    }
    const most = Math.max(...KINDS.map((kind) => (ten[kind] ?? 0) / (few[kind] ?? 0)));
    console.log(`processes: with the same load for each, ten cost at most ${most.toFixed(2)} times what one costs`);
  } finally {
    await place.remove();
  }
}

async function measure(place: ScalePlace, size: number, perSecond: number): Promise<Costs> {
  const costs: Record<string, number> = { "Node alone": await bare(size, perSecond) };
  const fleet = await Fleet.start(place, size);
  try {
    await fleet.warm(Object.fromEntries(KINDS.map((kind) => [kind, 1])), SECONDS);
    for (const kind of KINDS)
      costs[kind] = await median(async () => {
        const { node, redis, postgres } = await fleet.measure({ [kind]: 1 }, SECONDS, { perSecond });
        return node + redis + postgres;
      });
    return costs;
  } finally {
    fleet.stop();
  }
}

async function bare(size: number, perSecond: number): Promise<number> {
  const file = new URL("scale/bare-server.ts", import.meta.url);
  const children = Array.from({ length: size }, () => new Child(file, {}));
  const ports = await Promise.all(children.map((child) => child.hear<number>("port")));
  const clients = ports.map((port) => Client.get(port, "/"));
  const cpu = async (): Promise<number> => {
    const stats = await Promise.all(children.map((child) => child.ask<Stats>("stats", { stats: "cpu" })));
    return stats.reduce((total, { cpuMicros }) => total + cpuMicros, 0);
  };
  await Promise.all(clients.map((client) => client.closedLoop(1, 2)));
  const cost = await median(async () => {
    const before = await cpu();
    const traffic = await Promise.all(clients.map((client) => client.openLoop(SECONDS, perSecond / size)));
    const requests = traffic.reduce((total, { goodput }) => total + goodput, 0) * SECONDS;
    return ((await cpu()) - before) / requests;
  });
  for (const client of clients) client.close();
  for (const child of children) child.kill();
  return cost;
}

async function median(measured: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  while (values.length < ROUNDS) values.push(await measured());
  return values.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}
