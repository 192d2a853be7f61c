import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The measurements of a process since it received "begin". */
export interface Figures {
  /** Of all its threads. */
  readonly cpuMs: number;
  /** The longest that a timer had to wait. */
  readonly blockedMs: number;
  /** How much memory it had at most, over what it had in the beginning. */
  readonly grownBytes: number;
  /** The memory in use after a garbage collection. */
  readonly heapBytes: number;
  /** Open files and connections. */
  readonly handles: number;
  /** Rows of its `Metrics`. */
  readonly names: number;
  /** Dependencies that are open. */
  readonly opened: number;
  /** Mutations that were called. */
  readonly ran: number;
}

/** An endpoint in a separate process, until the test ends. */
export interface MeasuredServer {
  readonly port: number;
  readonly url: string;
  /** The files in its upload directory. */
  files(): readonly string[];
  begin(): Promise<void>;
  end(): Promise<Figures>;
}

export async function measuredServer(flags: readonly string[] = []): Promise<MeasuredServer> {
  const directory = mkdtempSync(join(tmpdir(), "portico-measured-"));
  const child = fork(new URL("./fixtures/measured-server.ts", import.meta.url), [directory], {
    execArgv: ["--expose-gc", ...flags],
  });
  const gone = new AbortController();
  child.once("exit", () => gone.abort(new Error("the server ended")));
  onTestFinished(async () => {
    if (child.kill("SIGKILL")) await once(child, "exit");
    rmSync(directory, { recursive: true });
  });
  const answer = async <T>(): Promise<T> => ((await once(child, "message", { signal: gone.signal })) as [T])[0];
  const port = await answer<number>();
  return {
    port,
    url: `http://127.0.0.1:${port}/graphql`,
    files: () => readdirSync(directory),
    async begin() {
      child.send("begin");
      await answer();
    },
    async end() {
      child.send("end");
      return answer<Figures>();
    },
  };
}

/** Tells the figures of a run that was asked for them, by PORTICO_LONG=1: such a run also takes its full size. */
export const isLong: boolean = process.env["PORTICO_LONG"] === "1";
export function tell(line: string): void {
  if (isLong) process.stdout.write(`${line}\n`);
}
