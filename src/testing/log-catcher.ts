/** One line of the log. */
export interface CaughtLine {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly msg: string;
  readonly [detail: string]: unknown;
}

/** Collects the log of an application for a test. */
export interface LogCatcher {
  readonly level: "trace";
  readonly stream: { write(line: string): void };
  readonly lines: readonly CaughtLine[];
  /** The lines as text, to check that something was not logged. */
  readonly text: string;
  clear(): void;
}

/**
 * Collects the log at all levels from `trace`.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { logCatcher } from "portico/testing";
 *
 * const log = logCatcher();
 * const app = new PorticoApp({ logger: log });
 * console.log(log.lines.filter(({ level }) => level === "error"));
 * ```
 */
export function logCatcher(): LogCatcher {
  const written: string[] = [];
  return {
    level: "trace",
    stream: {
      write: (line) => {
        written.push(line);
      },
    },
    get lines() {
      return written.map(parseLine);
    },
    get text() {
      return written.join("");
    },
    clear() {
      written.length = 0;
    },
  };
}

/** The numeric levels of pino. */
const LEVELS: Readonly<Record<number, CaughtLine["level"]>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

function parseLine(line: string): CaughtLine {
  const parsed = JSON.parse(line) as Record<string, unknown> & { readonly level: number; readonly msg?: string };
  return { ...parsed, msg: parsed.msg ?? "", level: LEVELS[parsed.level] ?? "info" };
}
