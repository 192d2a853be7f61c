import type { PoolFigures } from "./pool-count.ts";

/** What a server says about itself, after a collection. */
export interface Figures {
  /** Bytes that are in use, those outside of V8's heap included. */
  readonly heap: number;
  readonly rss: number;
  /** Since the start. */
  readonly cpuMicros: number;
  /** How long the event loop could have run, but waited for a core, since the start. Only Linux measures it. */
  readonly starvedMicros: number;
  /** 99 of 100 timers were no later than this, since the last time it was asked. */
  readonly delayMs: number;
  /** How many there are of each kind that keeps the process alive. */
  readonly resources: Readonly<Record<string, number>>;
  readonly descriptors: number;
  /** Connections of clients, sockets included. */
  readonly connections: number;
  readonly dependencies: number;
  readonly iterators: number;
  readonly pool: PoolFigures;
  /** Dependencies and iterators since the start. */
  readonly opened: number;
  readonly temporaryFiles: number;
  /** Entries of the durable store; `null` where it is not in this process. */
  readonly stored: number | null;
  /** Windows of limits that are open, each with a timer; `null` where they are not in this process. */
  readonly windows: number | null;
  /** Topics with at least one listener; `null` where the bus is not in this process. */
  readonly topics: number | null;
  /** Objects of requests that are in memory, by their kind. */
  readonly alive: Readonly<Record<string, number>>;
  /** Timers in memory, also those that keep no process alive; `null` where they were not counted, for that takes its time. */
  readonly timers: number | null;
  /** What must not happen at all: unhandled rejections, warnings, errors in the log. */
  readonly mishaps: readonly string[];
}
