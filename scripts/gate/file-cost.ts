import { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import type * as Argon2 from "@node-rs/argon2";

/** The cost of one test file, in milliseconds. `npm run gate:times` prints it. */
export interface FileCost {
  readonly wallMs: number;
  /** The CPU time of the worker, including the threads that hash. */
  readonly cpuMs: number;
  /** The CPU time of the processes that it started and that have ended. */
  readonly childrenMs: number;
  readonly processes: number;
  readonly hashes: number;
  /** The time in which at least one password was hashed or verified. */
  readonly hashingMs: number;
}

type Library = { -readonly [Name in "hash" | "verify"]: (typeof Argon2)[Name] };
type Spawning = { spawn: (this: ChildProcess, options: SpawnOptions) => number };
interface SpawnOptions {
  /** Each as `NAME=value`. */
  readonly envPairs?: string[];
}

/** The folder in which Node keeps what it has compiled: see vitest.config.ts. */
const CACHE = process.env["NODE_COMPILE_CACHE"];

interface Counts {
  processes: number;
  hashes: number;
  hashingMs: number;
}

/** Files that share a process share the counts. */
const place = globalThis as { fileCosts?: Counts };

function counts(): Counts {
  place.fileCosts ??= counting();
  return place.fileCosts;
}

/** Replaces the functions that start processes and hash passwords with ones that count. */
function counting(): Counts {
  const counted: Counts = { processes: 0, hashes: 0, hashingMs: 0 };
  const prototype = ChildProcess.prototype as unknown as Spawning;
  const { spawn } = prototype;
  prototype.spawn = function countedSpawn(this: ChildProcess, options) {
    counted.processes++;
    // A test that chooses the environment of a process does not choose how its modules are loaded.
    if (CACHE !== undefined && options.envPairs?.every((pair) => !pair.startsWith("NODE_COMPILE_CACHE=")))
      options.envPairs.push(`NODE_COMPILE_CACHE=${CACHE}`);
    return spawn.call(this, options);
  };
  const library = createRequire(import.meta.url)("@node-rs/argon2") as Library;
  const { hash, verify } = library;
  let running = 0;
  let since = 0;
  const timed = async <Result>(work: Promise<Result>): Promise<Result> => {
    counted.hashes++;
    if (running++ === 0) since = clockMs();
    try {
      return await work;
    } finally {
      if (--running === 0) counted.hashingMs += clockMs() - since;
    }
  };
  library.hash = (...args) => timed(hash(...args));
  library.verify = (...args) => timed(verify(...args));
  return counted;
}

/** Starts to measure a file. The function that it returns ends the measurement. */
export function measureFile(): () => FileCost {
  const before = { ...counts(), wallMs: clockMs(), cpu: process.cpuUsage(), childrenMs: childrenMs() };
  return () => {
    const { user, system } = process.cpuUsage(before.cpu);
    const { processes, hashes, hashingMs } = counts();
    return {
      wallMs: clockMs() - before.wallMs,
      cpuMs: (user + system) / 1_000,
      childrenMs: childrenMs() - before.childrenMs,
      processes: processes - before.processes,
      hashes: hashes - before.hashes,
      hashingMs: hashingMs - before.hashingMs,
    };
  };
}

// Tests replace Date and performance.
const { hrtime } = process;
const clockMs = (): number => Number(hrtime.bigint()) / 1e6;

/** Node doesn't report the CPU time of child processes, but Linux does: in hundredths of a second, with those of their children. */
function childrenMs(): number {
  if (!existsSync("/proc/self/stat")) return 0;
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
