import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cell, Seen } from "../cell.ts";
import { alone } from "../scenes/alone.ts";
import { onDisk, SMALL_HEAP } from "../scenes/file-places.ts";
import { withOrders } from "../scenes/with-orders.ts";

const TIMES = 8;
const TURN_MS = 300;
/** Until the process has noticed that there are no descriptors. */
const LONG_TURN_MS = 1_500;
/** The memory that a process may still take. A request asks for more at once. */
const SPARE_BYTES = 256 * 1024 ** 2;

const nothing: Seen = {};
const noDescriptors: Seen = {
  probes: { read: 0, write: 0, session: 0, store: 0, revoke: 0, publish: 0 },
  ready: 0,
  isLive: false,
  log: "no file descriptor is left for the process",
  blind: "`doctor` has its own descriptors",
};
/** The process can't see a SIGKILL. */
const KILLED = "the orchestrator or the kernel has the reason";

/** What a process has a limited amount of. */
export const limitCells: readonly Cell[] = [
  // Memory
  {
    resource: "memory",
    fault: "gone",
    sees: { ends: true, blind: KILLED },
    start: onDisk((_files, app) => {
      // As the kernel does when the machine has none left.
      app.child.kill("SIGKILL");
    }),
  },
  {
    resource: "memory",
    fault: "gone",
    how: "between a commit and its events",
    sees: { ends: true, blind: KILLED },
    start: withOrders(async (silenceBus, app) => {
      await sleep(LONG_TURN_MS);
      // From now on, orders are committed, and their events are not sent.
      silenceBus();
      await sleep(TURN_MS);
      app.child.kill("SIGKILL");
    }),
  },
  {
    resource: "memory",
    fault: "frozen",
    impossible: "memory that does not respond stops the process, as the frozen CPU does",
  },
  {
    resource: "memory",
    fault: "slow",
    sees: nothing,
    start: alone((app) => app.breakInside("most-memory"), { node: SMALL_HEAP }),
  },
  {
    resource: "memory",
    fault: "full",
    sees: { ends: true, log: "heap out of memory", blind: "`doctor` has its own memory" },
    start: onDisk((_files, app) => void app.breakInside("all-memory"), "small heap"),
  },
  { resource: "memory", fault: "partitioned", impossible: "there is no network between a process and its memory" },
  {
    resource: "memory",
    fault: "flapping",
    sees: nothing,
    start: alone(
      async (app) => {
        for (let count = 0; count < TIMES; count++) await app.breakInside("much-memory-for-a-moment");
      },
      { node: SMALL_HEAP },
    ),
  },
  {
    resource: "memory",
    fault: "refusing",
    sees: { log: "Failed to allocate memory" },
    start: alone(async (app) => {
      const { pid } = app.child;
      const used = /VmData:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      execFileSync("prlimit", ["--pid", String(pid), `--data=${Number(used) * 1024 + SPARE_BYTES}`]);
      await app.breakInside("a-large-buffer");
    }),
  },
  { resource: "memory", fault: "answering wrongly", impossible: "a process can't tell that its memory is wrong" },

  // Descriptors
  {
    resource: "descriptors",
    fault: "gone",
    sees: noDescriptors,
    start: alone((app) => void execFileSync("prlimit", ["--pid", String(app.child.pid), "--nofile=10:10"])),
  },
  { resource: "descriptors", fault: "frozen", impossible: "the kernel gives one at once or not at all" },
  { resource: "descriptors", fault: "slow", impossible: "the kernel gives one at once or not at all" },
  {
    resource: "descriptors",
    fault: "full",
    sees: noDescriptors,
    start: alone((app) => app.breakInside("all-descriptors"), { under: limited(200) }),
  },
  { resource: "descriptors", fault: "partitioned", impossible: "they are numbers of the same machine" },
  {
    resource: "descriptors",
    fault: "flapping",
    sees: {
      log: "no file descriptor is left for the process",
      metrics: ["portico_file_descriptors_exhausted_total"],
    },
    start: alone(
      async (app) => {
        for (let count = 0; count < 3; count++) {
          await app.breakInside("all-descriptors");
          await sleep(LONG_TURN_MS);
          await app.breakInside("no-descriptors");
          await sleep(TURN_MS);
        }
      },
      { under: limited(200) },
    ),
  },
  {
    resource: "descriptors",
    fault: "refusing",
    impossible: "the kernel refuses one only if there is none left, as in the cell full",
  },
  {
    resource: "descriptors",
    fault: "answering wrongly",
    impossible: "the kernel keeps the table, and no other process writes to it",
  },
];

/** The arguments that start a command with at most so many open files. */
function limited(files: number): readonly string[] {
  return ["sh", "-c", `ulimit -n ${files}; exec "$@"`, "sh"];
}
