import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { keepResults } from "../bench/graphql/keep-results.ts";
import { overloadPlot } from "../bench/overload/plot.ts";
import type { OverloadResults } from "../bench/overload.ts";
import type { ReliabilityResults } from "./figures/reliability-tables.ts";
import type { KeptFaultResults } from "./soak/faults/fault-run.ts";

// npm run reliability -- [--minutes 30] [--only fuzz,faults or overload]
// Fuzzes for a quarter of the time, injects faults for the rest, then overloads a server. With --only, the latest results
// of the other parts are read from .cache. Writes bench/results/reliability.json and reliability.svg.

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

const fuzz = run<FuzzResults>("fuzz", ".cache/fuzz.json", ["scripts/fuzz.ts", "--minutes", share(1)]);
const faults = run<KeptFaultResults>("faults", ".cache/soak-faults.json", [
  "scripts/soak.ts",
  "--faults",
  "all",
  "--minutes",
  share(3),
]);
const overload = run<OverloadResults>("overload", ".cache/overload.json", ["bench/run.ts", "overload"]);
const { inputs, seconds, failures } = fuzz;
const results: ReliabilityResults = {
  node: process.version,
  day: new Date().toISOString().slice(0, 10),
  faults,
  fuzz: { inputs, seconds, failures: failures.length },
  overload,
};
keepResults("reliability", results, overloadPlot(overload));
const injected = Object.values(faults.injected).reduce((sum, times) => sum + times, 0);
console.log(
  `reliability: ${injected} faults injected, ${inputs} inputs, ${process.exitCode === 1 ? "FAILED" : "passed"}`,
);

/** Runs a script if its part was chosen, and reads the results that it writes, even if they are bad ones. */
function run<T>(part: Part, file: string, args: readonly string[]): T {
  if (chosen.includes(part)) {
    rmSync(file, { force: true });
    const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (cause) {
    throw new Error(`There are no results of ${part} in ${file}: run npm run reliability -- --only ${part}`, { cause });
  }
}
