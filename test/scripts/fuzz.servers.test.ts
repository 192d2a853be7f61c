import { buildSchema } from "graphql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkProbe, checkTime } from "../../lab/fuzz/checks.ts";
import { type Failure, FuzzRun } from "../../lab/fuzz/fuzz-run.ts";
import { FuzzTarget } from "../../lab/fuzz/fuzz-target.ts";
import type { Generator, Input } from "../../lab/fuzz/input.ts";
import type { Known } from "../../lab/fuzz/known.ts";
import { MemoryLevel } from "../../lab/fuzz/memory-level.ts";
import { answeredRequest } from "../../lab/fuzz/request-bytes.ts";
import { escaped } from "../../lab/fuzz/routes.ts";

const known: Known = {
  schema: buildSchema("type Query { a: Int }"),
  accessTokens: [],
  refreshTokens: [],
  cookies: [],
  apiKeys: [],
  cursors: [],
};
let target: FuzzTarget;
const failures: Failure[] = [];

beforeAll(async () => {
  target = await FuzzTarget.start({
    file: new URL("fixtures/faulty-server.ts", import.meta.url),
    execArgv: [],
    env: {},
    settings: [{}, {}],
    probePath: "/",
    recoveryMs: 0,
  });
});
afterAll(() => target.end());

function newRun(): FuzzRun {
  const run = new FuzzRun(target, (failure) => failures.push(failure));
  run.learn(known);
  return run;
}

function get(path: string): Input {
  return answeredRequest({ path });
}

it("finds nothing wrong with a good response", async () => {
  expect(await newRun().examine(get("/fine"))).toEqual([]);
});

it.each([
  ["/crash", "alive"],
  ["/500", "status"],
  ["/503", "status"],
  ["/stack", "leak"],
  ["/secret", "leak"],
  ["/hang-up", "response"],
  ["/logged-error", "log"],
  ["/logged-secret", "leak"],
  ["/block", "delay"],
  ["/cpu", "cpu"],
  ["/stuck", "next request"],
])("sees the fault of %s by the check %s", async (path, check) => {
  const faults = await newRun().examine(get(path));

  expect(faults.map((fault) => fault.check)).toContain(check);
});

it("gives a flood 0.05 ms more for each of its requests", () => {
  const input = { pieces: [], ending: "wait", requests: 10, copies: 200 } as const;
  const report = { cpuMs: 0, connections: 0, log: [], collectionMs: 0, heap: null };

  expect(checkTime({ ...report, delayMs: 150 }, input)).toEqual([]);
  expect(checkTime({ ...report, delayMs: 151 }, input)).toEqual([
    { check: "delay", detail: "the event loop was blocked for 151 ms" },
  ]);
  expect(checkTime({ ...report, delayMs: 51 }, { ...input, copies: 1 })).toHaveLength(1);
});

it("expects the next request to take a second at most", () => {
  expect(checkProbe(1_000)).toEqual([]);
  expect(checkProbe(1_001)).toEqual([{ check: "next request", detail: "an ordinary request took 1001 ms" }]);
});

it("sees a heap that does not return to its level", async () => {
  const memory = new MemoryLevel();
  const run = newRun();
  for (let round = 0; round < 3; round++) expect(await memory.check(target)).toBeNull();

  for (let n = 0; n < 10; n++) await run.examine(get("/keep"));

  expect(await memory.check(target)).toMatch(
    /^the heap has \d+\.\d MB after a collection, at most \d+\.\d MB expected$/,
  );
});

it("names the one input of a group that fails, makes it smaller, and can replay it", async () => {
  const generator: Generator = {
    name: "planted",
    groupSize: 30,
    make: (tape) => {
      const path = tape.oneIn(20) ? "/500" : "/fine";
      const noise = tape.some(5, () => `&${escaped(String(tape.below(1_000)))}`).join("");
      return { ...get(path), pieces: [...get(path).pieces, ...get(`/fine?${noise}`).pieces] };
    },
  };
  const run = newRun();

  await run.group(generator, 3);

  const [failure] = run.failures;
  expect(run.failures).toHaveLength(1);
  expect(failure).toMatchObject({ check: "status", detail: "500 {}" });
  expect(failure?.inputs[0]?.pieces.map(({ bytes }) => bytes.toString().split("\r\n")[0])).toEqual([
    "GET /500 HTTP/1.1",
    "GET /fine? HTTP/1.1",
  ]);
  const [, seed, ...path] = failure?.replay?.split(":") ?? [];
  expect(run.inputOf(generator, Number(seed), path.join(":"))).toEqual(failure?.inputs[0]);
});
