import { closeSync, openSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import type { PorticoApp } from "../../src/index.ts";
import { shiftClock } from "../soak/faults/shift-clock.ts";

const DAY_MS = 86_400_000;
const MB = 1024 ** 2;
const TICK_MS = 10;
/** The share of the heap that is hard to work beside. */
const MAX_MEMORY = 0.7;
/** Lines of a kilobyte: more than a pipe and its reader hold, and less than the process keeps. */
const NOISE_LINES = 800;
const MAX_FILES = 100_000;

/** The old space of a process with little memory. */
export const SMALL_HEAP_MB = 96;

/** What breaks inside of the process, by the message that its parent sends. */
export type InnerFault =
  | "noise"
  | "clock-ahead"
  | "clock-right"
  | "clock-stopped"
  | "clock-at-half-speed"
  | "all-memory"
  | "most-memory"
  | "much-memory-for-a-moment"
  | "a-large-buffer"
  | "all-descriptors"
  | "no-descriptors";

const INNER_FAULTS: Readonly<Record<InnerFault, (app: PorticoApp) => void>> = {
  noise: ({ log }) => {
    for (let line = 0; line < NOISE_LINES; line++) log.warn({ text: "x".repeat(1_000) }, "noise");
  },
  "clock-ahead": () => shiftClock(DAY_MS),
  "clock-right": () => shiftClock(0),
  "clock-stopped": () => followClock(0),
  "clock-at-half-speed": () => followClock(0.5),
  "all-memory": () => {
    for (;;) held.push(objects(MB));
  },
  "most-memory": () => {
    const isFree = (): boolean => getHeapStatistics().used_heap_size < SMALL_HEAP_MB * MB * MAX_MEMORY;
    while (isFree()) held.push(objects(MB));
  },
  "much-memory-for-a-moment": () => void Array.from({ length: 30 }, () => objects(MB)),
  "a-large-buffer": () => void Buffer.alloc(2_048 * MB, 1),
  "all-descriptors": takeDescriptors,
  "no-descriptors": freeDescriptors,
};

const held: unknown[] = [];
const files: number[] = [];
let taking: NodeJS.Timeout | undefined;

/** Breaks what the parent asks for, and says when it is done. */
export function takeInnerFaults(app: PorticoApp): void {
  process.on("message", ({ fault }: { readonly fault: InnerFault }) => {
    try {
      INNER_FAULTS[fault](app);
    } catch (error) {
      app.log.error({ err: error }, "an allocation failed");
    }
    process.send?.({ fault });
  });
  process.channel?.unref();
}

/** Lets the clock run at another speed from now on. */
function followClock(speed: number): void {
  const began = performance.now();
  setInterval(() => shiftClock((speed - 1) * (performance.now() - began)), TICK_MS).unref();
}

/** Small objects on the heap, of about so many bytes. */
function objects(bytes: number): readonly object[] {
  return Array.from({ length: bytes / 64 }, (_, n) => ({ a: n, b: n + 0.5, c: [n] }));
}

/** Takes all descriptors, and each one that becomes free. */
function takeDescriptors(): void {
  taking = setInterval(takeAll, TICK_MS).unref();
  takeAll();
}

function takeAll(): void {
  try {
    while (files.length < MAX_FILES) files.push(openSync("/dev/null", "r"));
  } catch {
    // There are none left.
  }
}

function freeDescriptors(): void {
  clearInterval(taking);
  for (const file of files.splice(0)) closeSync(file);
}
