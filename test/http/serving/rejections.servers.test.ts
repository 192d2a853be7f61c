import { fork } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";

const FILE = new URL("fixtures/rejecting-app.ts", import.meta.url);

async function rejectingApp(way: string, execArgv: readonly string[] = []) {
  const child = fork(FILE, [way], { execArgv: [...execArgv], stdio: ["ignore", "pipe", "pipe", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit") as Promise<[number | null]>;
  const output = Promise.all([child.stdout, child.stderr].map((stream) => text(stream as Readable)));
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  child.disconnect();
  const get = async (path: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
  const responses = Promise.all([get("/open").catch(() => "cut"), get("/forgets")]);
  return { child, ended, log: async () => (await output).join(""), get, responses };
}

it("a promise that nothing awaits ends an application that listens, after the open requests", async () => {
  const { ended, log, responses } = await rejectingApp("listen");

  expect([await responses, await ended]).toEqual([
    ["open", "sent"],
    [1, null],
  ]);
  const lines = (await log())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ level }) => level === 60)).toEqual([
    expect.objectContaining({
      msg: "a promise was rejected and nothing handled it: shutting down. Await it, or handle its rejection",
      route: "/forgets",
      err: expect.objectContaining({ message: "the mail could not be sent" }),
    }),
  ]);
});

it.each<[string, readonly string[]]>([
  ["own listener", []],
  ["listen", ["--unhandled-rejections=warn"]],
  ["listen", ["--unhandled-rejections=none"]],
])("is left to the application or to Node: %s %s", async (way, execArgv) => {
  const { get, child, ended, log, responses } = await rejectingApp(way, execArgv);

  expect([await responses, await get("/")]).toEqual([["open", "sent"], "here"]);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await log()).not.toContain("nothing handled it");
});

it.each(["without signals", "handler"])(
  "ends the process as Node does where Portico does not own it: %s",
  async (way) => {
    const { ended, log, responses } = await rejectingApp(way);

    expect([await responses, await ended]).toEqual([
      ["cut", "sent"],
      [1, null],
    ]);
    expect(await log()).not.toContain("nothing handled it");
  },
);
