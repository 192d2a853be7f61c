import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";

const LIMIT = 120;

interface Started {
  readonly port: number;
  readonly lines: readonly Record<string, unknown>[];
}

/** Starts a process that may open 120 files. */
async function start(): Promise<Started> {
  const script = new URL("./fixtures/few-descriptors.ts", import.meta.url).pathname;
  const args = [`--nofile=${LIMIT}:${LIMIT}`, process.execPath, "--no-warnings", script];
  const child = spawn("prlimit", args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: Record<string, unknown>[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  await once(reader, "line");
  await expect.poll(() => lines.some(({ port }) => port !== undefined)).toBe(true);
  return { port: lines.find(({ port }) => port !== undefined)?.["port"] as number, lines };
}

/** Opens connections that send a request and stay. */
function hold(port: number, count: number): readonly Socket[] {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1").on("error", () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nHost: shop\r\n\r\n");
  return sockets;
}

it("exhausted file descriptors are one log line with the limit, a failed check and a series, and the process serves again", async () => {
  const { port, lines } = await start();
  hold(port, 2 * LIMIT);

  const exhausted = (): readonly Record<string, unknown>[] =>
    lines.filter(({ msg }) => String(msg).includes("no file descriptor is left"));
  await expect.poll(() => exhausted().length, { timeout: 10_000 }).toBe(1);
  // Idle connections were closed, so the orchestrator gets a response that names the cause.
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);

  expect([ready.status, await ready.json()]).toEqual([503, { status: "not ready", checks: { descriptors: "failed" } }]);
  expect(exhausted()[0]).toMatchObject({ level: 50, code: "EMFILE", limit: LIMIT });
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  await expect
    .poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status, { timeout: 15_000, interval: 500 })
    .toBe(200);
  expect(exhausted()).toHaveLength(1);
});
