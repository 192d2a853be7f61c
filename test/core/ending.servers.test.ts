import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** Runs the application to its end, with at most 120 open files. */
async function run(obstacle: "descriptors" | "memory" | "thread" | "pool"): Promise<Ended> {
  const script = new URL("./fixtures/ending-app.ts", import.meta.url).pathname;
  const child = spawn("prlimit", ["--nofile=120:120", process.execPath, "--no-warnings", script, obstacle]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

it("a shutdown without a free file descriptor runs the onClose hooks and ends with 0", async () => {
  expect(await run("descriptors")).toEqual({ code: 0, signal: null, output: "ready closed" });
});

it("a shutdown of a process that may take only a little more memory ends with 0", async () => {
  expect(await run("memory")).toEqual({ code: 0, signal: null, output: "ready closed" });
});

it("a shutdown that blocks the thread ends with SIGKILL", async () => {
  expect(await run("thread")).toEqual({ code: null, signal: "SIGKILL", output: "ready closed" });
});

it("a thread of the pool that waits for a file or a name server does not hold up the end of the process", async () => {
  expect(await run("pool")).toEqual({ code: null, signal: "SIGKILL", output: "ready closed" });
});
