import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";

interface Started {
  readonly url: string;
  readonly child: ChildProcess;
}

/** Starts an application whose log goes to `output`. */
async function start(output: "pipe" | number, ...args: readonly string[]): Promise<Started> {
  const script = new URL("./fixtures/logging-app.ts", import.meta.url).pathname;
  const child = fork(script, args, { stdio: ["ignore", output, "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Nothing is read until the test does.
  child.stdout?.pause();
  const [url] = (await once(child, "message")) as [string];
  return { url, child };
}

async function ask(url: string, times: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++) statuses.push((await fetch(url)).status);
  return statuses;
}

async function endOf({ child }: Started): Promise<readonly unknown[]> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  return ended;
}

const SERVED = Array.from({ length: 30 }, () => 200);

describe("a log that cannot be written", () => {
  it("stops neither requests nor the exit on a full disk", async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const started = await start(full);

    expect(await ask(started.url, 30)).toEqual(SERVED);
    expect(await endOf(started)).toEqual([0, null]);
  });

  it("stops neither of them behind a reader that stands still", async () => {
    const started = await start("pipe");

    expect(await ask(started.url, 30)).toEqual(SERVED);
    expect(await endOf(started)).toEqual([0, null]);
  });

  it("stops neither of them when the reader is gone", async () => {
    const started = await start("pipe");
    (started.child.stdout as Readable).destroy();

    expect(await ask(started.url, 30)).toEqual(SERVED);
    expect(await endOf(started)).toEqual([0, null]);
  });

  it("loses only what does not fit into a megabyte, and says how many lines that is", async () => {
    const started = await start("pipe");
    await ask(started.url, 30);

    const output = started.child.stdout as Readable;
    let text = "";
    output.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    output.resume();
    await expect.poll(() => text).toContain("log lines were dropped");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string; dropped?: number });
    const written = lines.filter(({ msg }) => msg === "a line").length;
    const [report] = lines.filter(({ dropped }) => dropped !== undefined);

    expect(written).toBeGreaterThan(900);
    expect(report).toMatchObject({ level: 40, dropped: 3_000 - written });
    expect(await ask(started.url, 1)).toEqual([200]);
    await expect.poll(() => text.match(/"a line"/g)?.length).toBe(written + 100);
    expect(await endOf(started)).toEqual([0, null]);
  });
});

describe("a shutdown", () => {
  it("is ended by SIGKILL if the thread is blocked", async () => {
    expect(await endOf(await start("pipe", "hangs"))).toEqual([null, "SIGKILL"]);
  });
});
