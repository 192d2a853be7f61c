import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

/** A command with `curl` that prints the events of a subscription until it is ended. */
export interface EventStream {
  readonly child: ChildProcess;
  printed: string;
}

/** Keeps the command running. Resolves when the server has subscribed, so that no event is lost. */
export async function openEventStream(command: string, options: SpawnOptions): Promise<EventStream> {
  const asked = command.replace("curl", "exec curl -H 'x-portico-tell-listening: 1'");
  const child = spawn("bash", ["-ec", asked], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const opened: EventStream = { child, printed: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    opened.printed += String(chunk);
  });
  while (!opened.printed.includes(": listening")) await once(child.stdout, "data");
  return opened;
}
