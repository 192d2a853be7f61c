import { expect, it } from "vitest";
import type { Figures } from "../../lab/soak/figures.ts";
import { heapGrowth, type Run, type Sample, starvedShare, verdict } from "../../lab/soak/verdict.ts";

const MIB = 1024 ** 2;

const idle: Figures = {
  heap: 40 * MIB,
  rss: 150 * MIB,
  cpuMicros: 0,
  starvedMicros: 0,
  delayMs: 10,
  resources: { PipeWrap: 1, TCPServerWrap: 1 },
  descriptors: 29,
  connections: 0,
  dependencies: 0,
  iterators: 0,
  pool: { connections: 3, idle: 3, waiting: 0, permits: 0 },
  opened: 0,
  temporaryFiles: 0,
  stored: 0,
  windows: 0,
  topics: 0,
  alive: {},
  timers: 4,
  mishaps: [],
};
const statuses = { 0: 10, 101: 1, 200: 900, 204: 5, 400: 9, 401: 9, 403: 9, 413: 9, 429: 9 };
const traffic = { actions: 1_200, statuses, slowestMs: 5, faults: [] };
const settled: Figures = { ...idle, opened: 800, windows: 90, timers: 94, alive: { contexts: 1 } };

/** One each second; the heap is what it is given. */
function samples(heaps: readonly number[]): readonly Sample[] {
  return heaps.map((heap, n) => ({
    seconds: n + 1,
    figures: { ...idle, heap: heap * MIB, dependencies: n % 3 },
    traffic: { ...traffic, actions: (n + 1) * 60 },
  }));
}

const clean: Run = {
  idle,
  samples: samples(Array.from({ length: 20 }, (_, n) => 48 + (n % 2) / 10)),
  settled,
  closed: { ...settled, resources: { PipeWrap: 1 } },
  exitCode: 0,
  traffic,
  rate: 60,
  plannedSeconds: 20,
  pooled: 0,
  people: 70,
};

it("finds nothing wrong with a run that has left nothing", () => {
  expect(verdict(clean)).toEqual([]);
});

it.each<[what: string, run: Partial<Run>]>([
  ["1 dependencies are left, where 0 may be", { settled: { ...settled, dependencies: 1 } }],
  ["2 iterators are left, where 0 may be", { settled: { ...settled, iterators: 2 } }],
  ["1 connections of clients are left, where 0 may be", { settled: { ...settled, connections: 1 } }],
  [
    "1 connections of the pool in use are left, where 0 may be",
    { settled: { ...settled, pool: { ...idle.pool, idle: 2 } } },
  ],
  [
    "1 callers that wait for the pool are left, where 0 may be",
    { settled: { ...settled, pool: { ...idle.pool, waiting: 1 } } },
  ],
  [
    "1 permits of transactions are left, where 0 may be",
    { settled: { ...settled, pool: { ...idle.pool, permits: 1 } } },
  ],
  ["1 temporary files are left, where 0 may be", { settled: { ...settled, temporaryFiles: 1 } }],
  ["40 descriptors are left, where 32 may be", { settled: { ...settled, descriptors: 40 } }],
  ["500 entries of the store are left, where 210 may be", { settled: { ...settled, stored: 500 } }],
  ["3 topics are left, where 2 may be", { settled: { ...settled, topics: 3 } }],
  [
    "1 of FSReqCallback are left, where 0 may be",
    { settled: { ...settled, resources: { ...idle.resources, FSReqCallback: 1 } } },
  ],
  ["60 contexts are in memory, where 8 may be", { settled: { ...settled, alive: { contexts: 60 } } }],
  ["150 timers are in memory, where 102 may be", { settled: { ...settled, timers: 150 } }],
  ["1 of Timeout are left after close()", { closed: { ...clean.closed, resources: { PipeWrap: 1, Timeout: 1 } } }],
  ["the process does not end", { exitCode: null }],
  ["the process ended with 1", { exitCode: 1 }],
  ["3 answers were 500", { traffic: { ...traffic, statuses: { ...statuses, 500: 3 } } }],
  [
    "an answer was wrong, 2 times: batch: no data",
    { traffic: { ...traffic, faults: ["batch: no data", "batch: no data"] } },
  ],
  [
    "it must not happen, 1 times: unhandled rejection: x",
    { closed: { ...clean.closed, mishaps: ["unhandled rejection: x"] } },
  ],
  [
    "the heap grows: 9.00 MB over 540 actions, where 2.00 MB may be",
    { samples: samples(Array.from({ length: 20 }, (_, n) => 40 + n)) },
  ],
  ["nothing was answered with 413", { traffic: { ...traffic, statuses: { ...statuses, 413: undefined as never } } }],
  ["only 100 actions were done in 20 s, of 60 a second", { traffic: { ...traffic, actions: 100 } }],
])("says %j", (what, change) => {
  expect(verdict({ ...clean, ...change })).toEqual([what]);
});

it("takes the trend of the heap from the second half, and not from what is odd in it", () => {
  const warmingUp = [20, 30, 40, 45, 48, 48, 48, 48, 48, 48];
  const withPeaks = [48, 48, 90, 48, 48, 48, 48, 95, 48, 48];

  expect(heapGrowth(samples([...warmingUp, ...withPeaks]))).toBe(0);
});

it("tells how long the server waited for a core", () => {
  const [first, ...rest] = samples([40, 40, 40]) as [Sample, ...Sample[]];
  const busy = rest.map((sample, n) => ({
    ...sample,
    figures: { ...sample.figures, starvedMicros: (n + 1) * 250_000 },
  }));

  expect(starvedShare([first, ...busy])).toBe(0.25);
  expect(starvedShare([first])).toBe(0);
});
