import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Case, cuts, MODES, pairs, sockets, timeouts } from "./connection-cases.ts";
import type { Held } from "./fixtures/shared-connection-server.ts";

/** How many cases run at once. */
const BATCH = 64;

let child: ChildProcess;
let port: number;

/** One server for all tests of a suite. */
function serve(mode: string, timeoutSeconds: number): void {
  beforeAll(async () => {
    const file = new URL("./fixtures/shared-connection-server.ts", import.meta.url);
    child = fork(file, [mode, String(timeoutSeconds)], { execArgv: [] });
    [port] = (await once(child, "message")) as [number];
  });
  afterAll(() => child.disconnect());
}

/** Runs the cases, each with a connection of its own; gives what was wrong once the server should hold nothing any more. */
async function faultsOf(cases: readonly Case[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const fail = ({ name }: Case, error: Error): void => void faults.push(`${name}: ${error.message}`);
  await Promise.all(cases.map((one) => one.run(port).catch((error: Error) => fail(one, error))));
  for (let round = 0; ; round++) {
    child.send("what is held?");
    const [held] = (await once(child, "message")) as [Held];
    faults.push(...held.faults);
    const open = Object.entries(held.open).filter(([, count]) => count > 0);
    if (open.length === 0 && held.connections === 0) return faults;
    if (round === 500) return [...faults, `left open: ${held.connections} connections, ${JSON.stringify(open)}`];
    await sleep(10);
  }
}

/** The faults of the first batch that has any, by the case that has them. */
async function firstFaults(cases: readonly Case[]): Promise<readonly string[]> {
  for (let start = 0; start < cases.length; start += BATCH) {
    const batch = cases.slice(start, start + BATCH);
    const together = await faultsOf(batch);
    if (together.length === 0) continue;
    for (const one of batch) {
      const faults = await faultsOf([one]);
      if (faults.length > 0) return faults.map((fault) => `${one.name}: ${fault}`);
    }
    return together;
  }
  return [];
}

describe.each(MODES)("connections under %s", (mode) => {
  serve(mode, 30);

  it.each([
    ["2592 pairs of messages", pairs(mode), 2592],
    ["180 beginnings of a socket", sockets(), 180],
    ["918 packets that break off", cuts(), 918],
  ])("survives %s, responds to earlier requests, and holds nothing", async (_, cases, count) => {
    const faults = await firstFaults(cases);

    expect(faults).toEqual([]);
    expect(cases.length).toBe(count);
  });
});

describe("connections under listen, with timeouts of a second", () => {
  serve("listen", 1);

  it("survives 65 messages that are not finished in time, and responds to earlier requests", {
    timeout: 60_000,
  }, async () => {
    const cases = timeouts();

    // All at once, because each takes a second.
    const faults = await faultsOf(cases);

    expect(faults).toEqual([]);
    expect(cases.length).toBe(65);
  });
});
