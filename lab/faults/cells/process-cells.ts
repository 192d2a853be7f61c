import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "../../bench/overload/traffic.ts";
import { cpuQuota } from "../../servers/cpu-quota.ts";
import type { AppProcess } from "../app-process.ts";
import type { Cell, Scene, Seen } from "../cell.ts";
import { alone, piped } from "../scenes/alone.ts";
import { sceneOf } from "../scenes/behind-proxy.ts";
import { redisPlace } from "../scenes/store-places.ts";

const TIMES = 8;
const PAUSE_MS = 2_500;
const TURN_MS = 300;
const BUSY = 8;
const TIMEOUT_MS = 15_000;
const NO_REDIS = "cannot start the durable role: no connection to Redis at portico.invalid";

const nothing: Seen = {};
const unwritten: Seen = { metrics: ["portico_log_waiting_bytes"] };
/** The longest delay of the last 15 to 30 seconds. */
const stopped = (seconds: number): Seen => ({ metrics: [`nodejs_eventloop_delay_max_seconds > ${seconds}`] });
const withClock = (breaks: (app: AppProcess) => unknown): (() => Promise<Scene>) =>
  sceneOf(redisPlace, (_reached, app) => breaks(app));

export const processCells: readonly Cell[] = [
  // Standard output
  {
    resource: "standard output",
    fault: "gone",
    sees: unwritten,
    start: piped((output) => output.destroy()),
  },
  {
    resource: "standard output",
    fault: "gone",
    how: "while the startup fails",
    sees: { startError: NO_REDIS, doctor: "failed stores" },
    start: async () => {
      const { output, remove } = unreadPipe();
      return { settings: { redis: "redis://portico.invalid:6379" }, output, break: () => {}, remove };
    },
  },
  {
    resource: "standard output",
    fault: "frozen",
    sees: unwritten,
    start: piped((output) => output.pause()),
  },
  {
    resource: "standard output",
    fault: "slow",
    sees: nothing,
    start: piped((output) => {
      output.pause();
      setInterval(() => output.read(1_000), 20).unref();
    }),
  },
  {
    resource: "standard output",
    fault: "full",
    sees: unwritten,
    start: () => writingTo("/dev/full", "w"),
  },
  { resource: "standard output", fault: "partitioned", impossible: "it is a file descriptor of the same machine" },
  {
    resource: "standard output",
    fault: "flapping",
    sees: nothing,
    start: alone(
      async (app) => {
        for (let count = 0; count < TIMES; count++) {
          app.child.stdout?.pause();
          await app.breakInside("noise");
          await sleep(TURN_MS);
          app.child.stdout?.resume();
          await sleep(TURN_MS);
        }
      },
      { output: "pipe" },
    ),
  },
  {
    resource: "standard output",
    fault: "refusing",
    sees: unwritten,
    start: () => writingTo("/dev/null", "r"),
  },
  { resource: "standard output", fault: "answering wrongly", impossible: "a process reads nothing from it" },

  // The clock
  { resource: "clock", fault: "gone", impossible: "the kernel always has one" },
  { resource: "clock", fault: "frozen", sees: nothing, start: withClock((app) => app.breakInside("clock-stopped")) },
  {
    resource: "clock",
    fault: "slow",
    sees: nothing,
    start: withClock((app) => app.breakInside("clock-at-half-speed")),
  },
  { resource: "clock", fault: "full", impossible: "it has no capacity" },
  { resource: "clock", fault: "partitioned", impossible: "a process reads the clock of its own machine" },
  {
    resource: "clock",
    fault: "flapping",
    sees: nothing,
    start: withClock(async (app) => {
      for (let count = 0; count < TIMES; count++) {
        await app.breakInside("clock-ahead");
        await sleep(TURN_MS);
        await app.breakInside("clock-right");
        await sleep(TURN_MS);
      }
    }),
  },
  { resource: "clock", fault: "refusing", impossible: "reading it can't fail" },
  {
    resource: "clock",
    fault: "answering wrongly",
    sees: {
      ready: 503,
      checks: ["durable"],
      log: "has a clock that is",
      blind: "`doctor` fails as well on a machine whose clock is wrong",
    },
    start: withClock((app) => app.breakInside("clock-ahead")),
  },

  // The CPU
  { resource: "CPU", fault: "gone", impossible: "a process that gets no time is frozen" },
  {
    resource: "CPU",
    fault: "frozen",
    sees: stopped(2),
    start: alone(async (app) => {
      app.child.kill("SIGSTOP");
      await sleep(PAUSE_MS);
      app.child.kill("SIGCONT");
    }),
  },
  {
    resource: "CPU",
    fault: "slow",
    sees: stopped(0.03),
    start: alone((app) => {
      // As a quota of a third does.
      let isStopped = false;
      setInterval(() => {
        app.child.kill(isStopped ? "SIGCONT" : "SIGSTOP");
        isStopped = !isStopped;
      }, 40).unref();
    }),
  },
  {
    resource: "CPU",
    fault: "slow",
    how: "a quota of 40 %, with 32 clients that wait for each response",
    sees: { isUnnoticed: true },
    start: async () => {
      let end: (() => void) | null = null;
      const scene = await alone(async ({ child, port }) => {
        end = cpuQuota(child.pid ?? 0, 0.4);
        const client = Client.get(port, "/read", TIMEOUT_MS);
        const { outcomes } = await client.closedLoop(5, 32);
        client.close();
        const others = Object.keys(outcomes).filter((outcome) => outcome !== "200");
        if (others.length > 0) throw new Error(`the clients received ${JSON.stringify(outcomes)}`);
      })();
      return { ...scene, end: () => end?.() };
    },
  },
  {
    resource: "CPU",
    fault: "full",
    sees: stopped(0.02),
    start: async () => {
      const busy: ReturnType<typeof spawn>[] = [];
      const scene = await alone(() => {
        for (let count = 0; count < BUSY; count++)
          busy.push(spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
      })();
      return {
        ...scene,
        remove: async () => {
          for (const each of busy) each.kill("SIGKILL");
        },
      };
    },
  },
  { resource: "CPU", fault: "partitioned", impossible: "there is no network between a process and its CPU" },
  {
    resource: "CPU",
    fault: "flapping",
    sees: stopped(0.2),
    start: alone(async (app) => {
      for (let count = 0; count < TIMES; count++) {
        app.child.kill("SIGSTOP");
        await sleep(TURN_MS);
        app.child.kill("SIGCONT");
        await sleep(TURN_MS);
      }
    }),
  },
  { resource: "CPU", fault: "refusing", impossible: "a process that gets no time is frozen" },
  { resource: "CPU", fault: "answering wrongly", impossible: "a process can't tell that its CPU is wrong" },
];

/** The end of a pipe that nothing reads. */
function unreadPipe(): Pick<Scene, "remove"> & { readonly output: number } {
  const folder = mkdtempSync(join(tmpdir(), "portico-pipe-"));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  // Without a reader, opening it to write would wait for one.
  const reader = openSync(pipe, "r+");
  const output = openSync(pipe, "w");
  closeSync(reader);
  const remove = async (): Promise<void> => {
    closeSync(output);
    rmSync(folder, { recursive: true });
  };
  return { output, remove };
}

/** A scene whose standard output is this file. */
async function writingTo(file: string, mode: "r" | "w"): Promise<Scene> {
  const output = openSync(file, mode);
  return {
    settings: {},
    output,
    break: (app) => app.breakInside("noise"),
    remove: async () => closeSync(output),
  };
}
