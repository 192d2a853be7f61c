import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { keepResults } from "../bench/graphql/keep-results.ts";
import { overloadPlot } from "../bench/overload/plot.ts";
import type { ReliabilityResults } from "./figures/reliability-tables.ts";

// npm run reliability -- [--minutes 30] [--only fuzz,faults or overload]
// Fuzzes for a quarter of the time, injects faults for the rest, then overloads a server. Writes bench/results/reliability.json
// and reliability.svg. With --only, the other parts stay as they are there.

interface FuzzResults {
  readonly inputs: number;
  readonly seconds: number;
  readonly failures: readonly unknown[];
}

const parts = ["fuzz", "faults", "overload"] as const;
type Part = (typeof parts)[number];

const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" }, only: { type: "string" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError(`--minutes is a number above 0, not ${values.minutes}`);
const chosen: readonly string[] = values.only === undefined ? parts : values.only.split(",").filter(Boolean);
const unknown = chosen.find((part) => !parts.some((known) => known === part));
if (unknown !== undefined) throw new RangeError(`--only takes ${parts.join(", ")}, not ${unknown}`);
/** A part that runs alone has all the time. */
const share = (quarters: number): string => String(chosen.length === 1 ? minutes : (minutes * quarters) / 4);

const kept = JSON.parse(readFileSync("bench/results/reliability.json", "utf8")) as ReliabilityResults;
const results: ReliabilityResults = {
  node: process.version,
  fuzz: run("fuzz", ".cache/fuzz.json", ["scripts/fuzz.ts", "--minutes", share(1)], fuzzed),
  faults: run("faults", ".cache/soak-faults.json", ["scripts/soak.ts", "--faults", "all", "--minutes", share(3)]),
  overload: run("overload", ".cache/overload.json", ["bench/run.ts", "overload"]),
};
keepResults("reliability", results, overloadPlot(results.overload));
const injected = Object.values(results.faults.injected).reduce((sum, times) => sum + times, 0);
console.log(
  `reliability: ${injected} faults injected, ${results.fuzz.inputs} inputs, ${process.exitCode === 1 ? "FAILED" : "passed"}`,
);

/** Runs a script if its part was chosen, and reads the results that it writes, even if they are bad ones. */
function run<P extends Part>(
  part: P,
  file: string,
  args: readonly string[],
  read = (written: unknown): object => written as object,
): ReliabilityResults[P] {
  if (!chosen.includes(part)) return kept[part];
  rmSync(file, { force: true });
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  const day = new Date().toISOString().slice(0, 10);
  return { day, ...read(JSON.parse(readFileSync(file, "utf8"))) } as ReliabilityResults[P];
}

/** The inputs that have failed are not published, only their number. */
function fuzzed(written: unknown): Omit<ReliabilityResults["fuzz"], "day"> {
  const { inputs, seconds, failures } = written as FuzzResults;
  return { inputs, seconds, failures: failures.length };
}
