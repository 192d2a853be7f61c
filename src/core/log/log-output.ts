import { writeSync } from "node:fs";
import { hostname } from "node:os";
import type { Figure, Part } from "../parts/parts.ts";

/** The bytes of lines that wait until they can be written. Further lines are dropped. */
const MAX_WAITING = 1024 ** 2;
const RETRY_MS = 100;
/** How long the exit of the process waits for a reader. */
const EXIT_MS = 200;
const PAUSE_MS = 5;

/** Whether a reader may take more soon. After any other error, only time helps. */
const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === "EAGAIN";

/**
 * Writes log lines to standard output, and never blocks, throws or ends the process: on a full disk and behind a reader that
 * stands still, lines wait in a bounded buffer, and lines beyond it are dropped and counted. A line with their number follows
 * when the output works again.
 */
export class LogOutput implements Part {
  readonly #fd: number;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #unreported = 0;
  #dropped = 0;
  #retrying: NodeJS.Timeout | null = null;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The number of lines that were dropped since the process started. */
  get dropped(): number {
    return this.#dropped;
  }

  *figures(): Iterable<Figure> {
    yield { series: "portico_log_lines_dropped_total", labels: [], value: this.#dropped };
    yield { series: "portico_log_waiting_bytes", labels: [], value: this.#bytes };
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes > 0) return this.#keep(bytes);
    const rest = this.#attempt(bytes);
    if (rest.bytes.length > 0) this.#keep(rest.bytes);
  }

  /** Called at the exit of the process, and by pino after a fatal error. Waits a moment for a reader, and gives up then. */
  flushSync(): void {
    for (let waitedMs = 0; waitedMs <= EXIT_MS; waitedMs += PAUSE_MS) {
      if (!this.#drain()) return;
      Atomics.wait(SLEEP, 0, 0, PAUSE_MS);
    }
  }

  #keep(bytes: Buffer): void {
    if (this.#bytes + bytes.length > MAX_WAITING) {
      this.#dropped++;
      this.#unreported++;
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#retrying !== null) return;
    this.#retrying = setInterval(() => this.#drain(), RETRY_MS).unref();
    process.once("exit", this.#flush);
  }

  readonly #flush = (): void => this.flushSync();

  /** Writes everything that waits. Returns whether a reader may take the rest soon. */
  #drain(): boolean {
    while (this.#bytes > 0) {
      const all = Buffer.concat(this.#waiting, this.#bytes);
      const rest = this.#attempt(all);
      this.#waiting = rest.bytes.length === 0 ? [] : [rest.bytes];
      this.#bytes = rest.bytes.length;
      if (rest.error !== null) return isFull(rest.error);
      if (this.#bytes === 0 && this.#unreported > 0) this.#reportDropped();
    }
    if (this.#retrying !== null) clearInterval(this.#retrying);
    this.#retrying = null;
    process.off("exit", this.#flush);
    return false;
  }

  #attempt(bytes: Buffer): { readonly bytes: Buffer; readonly error: unknown } {
    try {
      return { bytes: bytes.subarray(writeSync(this.#fd, bytes)), error: null };
    } catch (error) {
      return { bytes, error };
    }
  }

  #reportDropped(): void {
    const msg = `${this.#unreported} log lines were dropped because they could not be written`;
    const line = {
      level: 40,
      time: Date.now(),
      pid: process.pid,
      hostname: hostname(),
      dropped: this.#unreported,
      msg,
    };
    this.#unreported = 0;
    this.#waiting = [Buffer.from(`${JSON.stringify(line)}\n`)];
    this.#bytes = this.#waiting[0]?.length ?? 0;
  }
}

const SLEEP = new Int32Array(new SharedArrayBuffer(4));

let shared: LogOutput | null = null;

/** The standard output of this process. */
export function standardOutput(): LogOutput {
  if (shared !== null) return shared;
  // Node opens a pipe or socket without blocking when this is first read. Otherwise a write would wait for the reader.
  void process.stdout;
  shared = new LogOutput(1);
  return shared;
}
