import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { MemoryKeyValue } from "../../src/stores/memory-key-value.ts";
import { MemoryPubSub } from "../../src/stores/memory-pub-sub.ts";
import { AliveCount } from "./alive-count.ts";
import { CountedRedisWindows, CountedWindows } from "./counted-windows.ts";
import { shiftClock } from "./faults/shift-clock.ts";
import type { Figures } from "./figures.ts";
import { leakOnPurpose } from "./leak-on-purpose.ts";
import { OpenCount } from "./open-count.ts";
import { PoolCount } from "./pool-count.ts";
import { soakApp } from "./soak-app.ts";
import { ON_PURPOSE } from "./soak-graph.ts";
import type { SoakSettings } from "./soak-settings.ts";

/** What the run asks of its server. */
export type ServerOrder =
  | { readonly tell: "figures" | "everything" }
  | { readonly close: true }
  /** Whether the log may report outages. */
  | { readonly outages: boolean }
  /** How far the clock is to be off. */
  | { readonly clockMs: number };

// The server of a run: it answers clients by HTTP, and reports its state to the process that started it.
const settings = JSON.parse(process.argv[2] ?? "") as SoakSettings;
const mishaps: string[] = [];
let isOutage = settings.faults !== null;
process.on("warning", (warning) => {
  // The count of objects below and, on Node 22, SQLite are experimental.
  if (!/v8\.queryObjects|SQLite/.test(warning.message)) mishaps.push(`warning: ${describe(warning)}`);
});
// Opened now, so that they are not taken for something that the load has opened.
for (const stream of [process.stdout, process.stderr]) stream.write("");

const CLOSING_MS = 500;
const open = new OpenCount();
const pool = new PoolCount();
const log = { level: "warn" as const, stream: { write: readLine } };
const alive = new AliveCount();
const { app, stores } = await soakApp(settings, { open, alive }, log);
app.engine.addHook("onRequest", async ({ raw }) => alive.see("requests", raw));
app.engine.server.on("connection", (socket) => alive.see("connections", socket));
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
if (settings.leak !== null) leakOnPurpose(app, settings.leak, open);
const { port } = await app.listen({ port: settings.faults?.restartedOn ?? 0 });

// From here on: a start that fails ends the process.
process.on("unhandledRejection", (error) => mishaps.push(`unhandled rejection: ${describe(error)}`));
process.on("uncaughtException", (error) => mishaps.push(`uncaught exception: ${describe(error)}`));

process.on("message", (order: ServerOrder) => void obey(order));
process.send?.({ port });

async function obey(order: ServerOrder): Promise<void> {
  if ("outages" in order || "clockMs" in order) {
    if ("outages" in order) isOutage = order.outages;
    else shiftClock(order.clockMs);
    process.send?.({ obeyed: true });
    return;
  }
  if ("close" in order) {
    await app.close();
    delay.disable();
    // What is closed is gone when the other side has closed it, too.
    await sleep(CLOSING_MS);
  }
  process.send?.({ figures: await figures("tell" in order && order.tell === "everything") });
  // Whatever still runs now keeps the process alive, and that is seen.
  if ("close" in order) process.disconnect();
}

async function figures(isWithTimers: boolean): Promise<Figures> {
  // What a finalizer lets go of is collected by the next one.
  for (let n = 0; n < 2; n++) {
    globalThis.gc?.();
    await turn();
  }
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const delayMs = delay.percentile(99) / 1e6;
  delay.reset();
  const { durable, counters, bus } = stores;
  return {
    heap: heapUsed + external,
    rss,
    cpuMicros: user + system,
    starvedMicros: starvedMicros(),
    delayMs,
    resources: Object.fromEntries(
      Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind)).map(([kind, all]) => [
        kind,
        all?.length ?? 0,
      ]),
    ),
    // One of them is the look itself.
    descriptors: readdirSync("/proc/self/fd").length - 1,
    connections: await connectionCount(),
    dependencies: open.dependencies,
    iterators: open.iterators,
    pool: pool.figures(),
    opened: open.opened,
    temporaryFiles: readdirSync(settings.directory).length,
    stored: durable instanceof MemoryKeyValue ? durable.size : null,
    windows: counters instanceof CountedWindows || counters instanceof CountedRedisWindows ? counters.open : null,
    topics: bus instanceof MemoryPubSub ? bus.topicCount : null,
    alive: alive.counts(),
    timers: isWithTimers ? timerCount() : null,
    mishaps,
  };
}

/** The second field is the time that the main thread waited for a core, in nanoseconds. */
function starvedMicros(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1_000;
  } catch {
    return 0;
  }
}

function connectionCount(): Promise<number> {
  if (!app.engine.server.listening) return Promise.resolve(0);
  return new Promise((resolve, reject) => {
    app.engine.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

/** Those that keep no process alive as well. It takes a walk through the whole heap. */
function timerCount(): number {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  return queryObjects(timer.constructor, { format: "count" });
}

/** What is thrown on purpose is logged, and so are operations that fail. */
function readLine(line: string): void {
  const { name, msg, err } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (line.includes(ON_PURPOSE) || name === "portico.graphql.operations" || isOutage) return;
  // Without what is another in each line, so that those alike are told once.
  mishaps.push(`logged: ${JSON.stringify({ msg, err })}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
