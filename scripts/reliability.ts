import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { keepResults } from "../bench/graphql/keep-results.ts";
import type { OverloadResults } from "../bench/overload.ts";
import type { ReliabilityResults } from "./figures/reliability-tables.ts";
import type { FaultResults } from "./soak/faults/fault-run.ts";

// npm run reliability -- [--minutes 30]
// Fuzzes for a quarter of the time, injects faults for the rest, then overloads a server. Writes bench/results/reliability.json.

interface FuzzResults {
  readonly inputs: number;
  readonly seconds: number;
  readonly failures: readonly unknown[];
}

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError(`--minutes is a number above 0, not ${values.minutes}`);

const { inputs, seconds, failures } = run<FuzzResults>(".cache/fuzz.json", [
  "scripts/fuzz.ts",
  "--minutes",
  String(minutes / 4),
]);
const faults = run<FaultResults>(".cache/soak-faults.json", [
  "scripts/soak.ts",
  "--faults",
  "all",
  "--minutes",
  String((minutes * 3) / 4),
]);
const overload = run<OverloadResults>(".cache/overload.json", ["bench/run.ts", "overload"]);
const results: ReliabilityResults = {
  node: process.version,
  day: new Date().toISOString().slice(0, 10),
  faults,
  fuzz: { inputs, seconds, failures: failures.length },
  overload,
};
keepResults("reliability", results);
const injected = Object.values(faults.injected).reduce((sum, times) => sum + times, 0);
console.log(
  `reliability: ${injected} faults injected, ${inputs} inputs, ${process.exitCode === 1 ? "FAILED" : "passed"}`,
);

/** Runs a script and reads the results that it writes, even if they are bad ones. */
function run<T>(file: string, args: readonly string[]): T {
  rmSync(file, { force: true });
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
