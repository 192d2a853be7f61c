import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "../servers/child.ts";
import type { DrainFigures, DrainServerSettings } from "./drain/drain-server.ts";
import type { SubscriberSettings } from "./drain/subscribers.ts";

/** The sockets of one process, and the period over which it closes them. */
type Case = readonly [sockets: number, socketSeconds: number];

/** Several processes share the work of the clients. */
const MAX_PER_CLIENT = 5_000;
const TIMEOUT_MS = 300_000;

/** `npm run bench -- drain [--short] [--sockets=50000] [--seconds=5]` */
const cases: readonly Case[] = process.argv.includes("--short")
  ? [[500, 1]]
  : option("sockets") === null
    ? [
        [10_000, 0],
        [10_000, 5],
        [10_000, 15],
      ]
    : [[option("sockets") ?? 0, option("seconds") ?? 5]];

interface Drain {
  readonly sockets: number;
  readonly socketSeconds: number;
  readonly bytesPerSocket: number;
  readonly drainMs: number;
  readonly reconnectedMs: number;
  /** Connection attempts at the second process: all of them, in the busiest second, and in the busiest tenth of one. */
  readonly attempts: number;
  readonly mostPerSecond: number;
  readonly mostPerTenth: number;
  /** CPU time of the second process for each socket that it took over. */
  readonly cpuMicros: number;
}

/**
 * Drains a process with many WebSocket subscriptions while portico-client moves them to a second one. Clients and servers share
 * the machine, so times depend on its cores; the spread of the attempts and the bytes depend on them little.
 */
export async function run(): Promise<void> {
  console.log(
    "| sockets | closed over | bytes per socket | drained | all reconnected | attempts | most in 1 s | in 0.1 s | CPU per socket taken over |",
  );
  console.log("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  for (const [sockets, socketSeconds] of cases) {
    const drain = await measure(sockets, socketSeconds);
    const share = (count: number): string => `${count} (${Math.round((100 * count) / sockets)}%)`;
    console.log(
      `| ${sockets} | ${socketSeconds} s | ${Math.round(drain.bytesPerSocket)} | ${seconds(drain.drainMs)} | ${seconds(drain.reconnectedMs)} | ` +
        `${drain.attempts} | ${share(drain.mostPerSecond)} | ${share(drain.mostPerTenth)} | ${Math.round(drain.cpuMicros)} µs |`,
    );
  }
  console.log(`drain: ${cases.length} cases, every subscription reconnected`);
}

async function measure(sockets: number, socketSeconds: number): Promise<Drain> {
  const settings: DrainServerSettings = { socketSeconds };
  const [first, second] = [0, 1].map(
    () => new Child(new URL("drain/drain-server.ts", import.meta.url), settings, ["--expose-gc"]),
  ) as [Child, Child];
  const clients: Child[] = [];
  try {
    const [port, target] = await Promise.all([first.hear<number>("port"), second.hear<number>("port")]);
    const before = await figuresOf(first);
    const count = Math.ceil(sockets / MAX_PER_CLIENT);
    for (let n = 0; n < count; n++) {
      const share: SubscriberSettings = { port, count: Math.ceil((sockets - n) / count), addresses: count };
      clients.push(new Child(new URL("drain/subscribers.ts", import.meta.url), share));
    }
    await Promise.all(clients.map((client) => client.hear("ready")));
    await subscribed(first, sockets);
    const [idle, fresh] = [await figuresOf(first), await figuresOf(second, "counts")];

    await Promise.all(clients.map((client) => client.ask("moved", { target })));
    const began = performance.now();
    first.signal("SIGTERM");
    const drained = first.ended(TIMEOUT_MS).then((code) => {
      if (code !== 0) throw new Error(`the first process ended with ${code}`);
      return performance.now() - began;
    });
    const [drainMs] = await Promise.all([drained, subscribed(second, sockets)]);
    const reconnectedMs = performance.now() - began;
    const { arrivals, cpuMicros } = await figuresOf(second, "counts");
    return {
      sockets,
      socketSeconds,
      bytesPerSocket: (idle.rss - before.rss) / sockets,
      drainMs,
      reconnectedMs,
      attempts: arrivals.reduce((sum, count) => sum + count, 0),
      mostPerSecond: most(arrivals, 10),
      mostPerTenth: most(arrivals, 1),
      cpuMicros: (cpuMicros - fresh.cpuMicros) / sockets,
    };
  } finally {
    for (const child of [first, second, ...clients]) child.kill();
  }
}

function figuresOf(server: Child, tell: "memory" | "counts" = "memory"): Promise<DrainFigures> {
  return server.ask("figures", { tell });
}

/** Waits until a server has this many subscriptions. */
async function subscribed(server: Child, sockets: number): Promise<void> {
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const { subscribed } = await figuresOf(server, "counts");
    if (subscribed === sockets) return;
    if (performance.now() > until) throw new Error(`${subscribed} of ${sockets} subscriptions are open`);
    await sleep(250);
  }
}

/** The largest sum of so many slices in a row. */
function most(arrivals: readonly number[], slices: number): number {
  return Math.max(...arrivals.map((_, at) => arrivals.slice(at, at + slices).reduce((sum, count) => sum + count, 0)));
}

function option(name: string): number | null {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given === undefined ? null : Number(given.slice(name.length + 3));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
