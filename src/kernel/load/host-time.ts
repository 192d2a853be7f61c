import { readFileSync } from "node:fs";

/** A cumulative counter of the operating system, in milliseconds; `null` where it is not available. */
type Counter = () => number | null;

/**
 * The time in which the main thread had work, but the host gave the core to others: the time that it waited for a core, and the
 * time that a CPU quota stopped it. Both are of Linux and optional. Without them, no time is taken.
 */
export class HostTime {
  readonly #counters: readonly { readonly read: Counter; before: number }[];

  /** @param root the folder that contains `proc` and `sys` */
  constructor(root = "") {
    this.#counters = [schedulerDelay(root), ...throttledTimes(root)].flatMap((read) => {
      const before = read();
      return before === null ? [] : [{ read, before }];
    });
  }

  /**
   * Returns the milliseconds since the last call. A thread that a quota stops waits for a core as well on some kernels, so the
   * sources may overlap, and the largest is valid.
   */
  takenMs(): number {
    let taken = 0;
    for (const counter of this.#counters) {
      const now = counter.read();
      if (now === null) continue;
      taken = Math.max(taken, now - counter.before);
      counter.before = now;
    }
    return taken;
  }
}

/** The second field, in nanoseconds, of the main thread. */
function schedulerDelay(root: string): Counter {
  const path = `${root}/proc/self/schedstat`;
  return () => scaled(/^\d+ (\d+)/.exec(textOf(path))?.[1], 1e6);
}

/** The quota of cgroup v2, in microseconds, or of v1, in nanoseconds. In a container, its own group may be mounted as the root. */
function throttledTimes(root: string): readonly Counter[] {
  const groups = textOf(`${root}/proc/self/cgroup`);
  const own = /^0::(.*)$/m.exec(groups)?.[1] ?? "";
  const ownCpu =
    groups
      .split("\n")
      .map((line) => line.split(":"))
      .find(([, controllers]) => controllers?.split(",").includes("cpu") === true)?.[2] ?? "";
  const v2 = [own, ""].map((group) => `${root}/sys/fs/cgroup${group}/cpu.stat`);
  const v1 = [ownCpu, ""].map((group) => `${root}/sys/fs/cgroup/cpu${group}/cpu.stat`);
  return [counterIn(v2, /^throttled_usec (\d+)/m, 1e3), counterIn(v1, /^throttled_time (\d+)/m, 1e6)];
}

function counterIn(paths: readonly string[], field: RegExp, perMs: number): Counter {
  const path = paths.find((candidate) => field.test(textOf(candidate)));
  return () => (path === undefined ? null : scaled(field.exec(textOf(path))?.[1], perMs));
}

function scaled(digits: string | undefined, perMs: number): number | null {
  return digits === undefined ? null : Number(digits) / perMs;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
