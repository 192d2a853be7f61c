import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { builtDoors } from "../../scripts/package/built-package.ts";

const program = fileURLToPath(new URL("./fixtures/serve.ts", import.meta.url));

/** The server as its own process. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  /** Publishes an event to the subscribers of `ticks`. */
  tick(value: number): Promise<void>;
  /** Ends the process without a goodbye. */
  kill(): Promise<void>;
}

/** Starts the server until the test ends, on a free port, or on that of a server that was killed. */
export async function serverProcess(port = 0, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...builtDoors(), program], {
    env: { PATH: process.env["PATH"], PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  let output = "";
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const url = /^listening on (\S+)$/m.exec(output)?.[1];
    if (url === undefined) continue;
    return {
      url,
      port: Number(new URL(url).port),
      kill,
      async tick(value) {
        const headers = { "content-type": "application/json" };
        await fetch(`${url}/tick`, { method: "POST", headers, body: JSON.stringify({ value }) });
      },
    };
  }
  throw new Error(`The server ended before it listened: ${output}`);
}
