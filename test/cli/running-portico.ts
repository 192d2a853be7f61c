import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

/** Processes start in a second, and in many on a busy machine. */
const TIMEOUT_MS = 60_000;

/** A program that runs until it is told to end. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with the groups of the first match in a line that no earlier call has returned or skipped. */
  until(pattern: RegExp): Promise<readonly string[]>;
  /** Everything that was written until now, without colors. */
  readonly text: string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

export function running(child: ChildProcessWithoutNullStreams): Running {
  const lines: string[] = [];
  let read = 0;
  let wake = Promise.withResolvers<void>();
  let hasEnded = false;
  const note = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => {
      lines.push(stripVTControlCharacters(line));
      note();
    });
  const ended = once(child, "close").then(([code]) => {
    hasEnded = true;
    note();
    return code as number | null;
  });
  return {
    child,
    ended,
    get text() {
      return lines.join("\n");
    },
    async until(pattern) {
      const late = AbortSignal.timeout(TIMEOUT_MS);
      for (;;) {
        while (read < lines.length) {
          const match = pattern.exec(lines[read++] as string);
          if (match !== null) return match.slice(1);
        }
        if (hasEnded) throw new Error(`ended without ${String(pattern)}:\n${lines.join("\n")}`);
        if (late.aborted) throw new Error(`no line with ${String(pattern)} in ${TIMEOUT_MS} ms:\n${lines.join("\n")}`);
        await Promise.race([wake.promise, sleep(TIMEOUT_MS, undefined, { ref: false })]);
      }
    },
  };
}
