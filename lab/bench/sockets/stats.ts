import type { ChildProcess } from "node:child_process";
import { heard } from "./heard.ts";

/** What a server says about itself. */
export interface Stats {
  /** After collection, when memory was asked for. */
  readonly rss: number;
  readonly heap: number;
  readonly cpuMicros: number;
  /** The longest round of the event loop since the last burst: the time between two rounds, and the CPU time of the process. */
  readonly longestRound: { readonly ms: number; readonly cpuMs: number };
}

/** Asks a server for its figures; "memory" collects garbage first. */
export async function statsOf(server: ChildProcess, stats: "memory" | "cpu" = "cpu"): Promise<Stats> {
  const answer = heard<{ readonly stats: Stats }>(server, "stats");
  server.send({ stats });
  return (await answer).stats;
}
