import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull, platform } from "node:os";
import type { Logger } from "../logger.ts";
import type { Figure, Part } from "./parts.ts";

const CHECK_MS = 1_000;
/** How long readiness reports it: the requests that were rejected meanwhile left no trace. */
const HELD_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const FOLDER = platform() === "linux" ? "/proc/self/fd" : "/dev/fd";

/**
 * The file descriptors of the process. Without a free one, the kernel's connections are closed before Node reports them, so
 * nothing else would name the cause.
 */
export class Descriptors implements Part {
  readonly #open: () => void;
  #timer: NodeJS.Timeout | undefined;
  #limit: number | null = null;
  #exhaustedAt = Number.NEGATIVE_INFINITY;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #seconds = 0;

  /** @param open opens and closes one descriptor; throws if there is none */
  constructor(open: () => void = () => closeSync(openSync(devNull, "r"))) {
    this.#open = open;
  }

  /** Whether there was no free descriptor during the last seconds. */
  get isExhausted(): boolean {
    return performance.now() - this.#exhaustedAt < HELD_MS;
  }

  /** @param free closes what the process can do without */
  start(log: Logger, free: () => void): void {
    if (this.#timer !== undefined) return;
    this.#limit = limitOfProcess();
    this.#timer = setInterval(() => this.#check(log, free), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  *figures(): Iterable<Figure> {
    const count = this.#count();
    if (count !== null) yield { series: "process_unix_file_descriptor_count", labels: [], value: count };
    if (this.#limit !== null) yield { series: "portico_file_descriptor_limit", labels: [], value: this.#limit };
    yield { series: "portico_file_descriptors_exhausted_total", labels: [], value: this.#seconds };
  }

  #check(log: Logger, free: () => void): void {
    try {
      this.#open();
    } catch (err) {
      const { code } = err as NodeJS.ErrnoException;
      if (code === "EMFILE" || code === "ENFILE") this.#exhausted(log, free, code);
    }
  }

  #exhausted(log: Logger, free: () => void, code: "EMFILE" | "ENFILE"): void {
    const now = performance.now();
    this.#exhaustedAt = now;
    this.#seconds++;
    free();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = now;
    const limit = this.#limit;
    const whose = code === "ENFILE" ? "the system" : `the process, whose limit is ${limit ?? "unknown"}`;
    log.error(
      { code, limit },
      `no file descriptor is left for ${whose}: connections are closed before they are served; raise the limit (ulimit -n, LimitNOFILE) or close what is open`,
    );
  }

  #count(): number | null {
    try {
      // Reading the folder takes one itself.
      return readdirSync(FOLDER).length - 1;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EMFILE" ? this.#limit : null;
    }
  }
}

function limitOfProcess(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
