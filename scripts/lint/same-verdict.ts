const WAY_OUT = "count events, move a clock (manualClock, vi.useFakeTimers) or wait for the outcome with expect.poll";

/** Helpers that measure for `*.quiet.test.ts`, or keep the thread busy or hold bytes back on purpose. */
const exempt: readonly string[] = [
  "test/block-thread.ts",
  "test/auth/accounts/attacks/timing-judge.ts",
  "test/system/linear-time/cpu-by-size.ts",
  "test/runner/left-behind.ts",
  "lab/servers/tcp-proxy.ts",
];

/** Whether a file belongs to the tests of the gate, whose results may not depend on the machine, the time or chance. */
export function isJudged(file: string): boolean {
  const isTest = /^(?:test|lab\/(?:servers|seeds)|examples\/[^/]+\/test)\//.test(file);
  return isTest && !file.endsWith(".quiet.test.ts") && !exempt.includes(file);
}

/** The reason why a test may not use a member of a global object, such as `performance.now`, or undefined. */
export function memberFault(name: string): string | undefined {
  if (name === "performance.now" || name === "process.hrtime")
    return `${name} measures how busy the machine is: ${WAY_OUT}; what has to be measured is a *.quiet.test.ts`;
  if (name === "Math.random")
    return "Math.random differs in each run: use a fixed seed or a counter, or randomUUID for a name";
  return undefined;
}

/** The reason why a test may not calculate with `Date.now()` in this way. */
export function dateFault(use: "compared" | "seed"): string {
  return use === "seed"
    ? "Date.now() as a seed differs in each run: use a fixed seed"
    : `an elapsed time depends on how busy the machine is: ${WAY_OUT}`;
}

/** The reason why `vi.waitFor` and `vi.waitUntil` need a second argument. */
export const waitFault =
  "it gives up after 1 s, in which a paused process does nothing: use expect.poll, or pass 60_000";
