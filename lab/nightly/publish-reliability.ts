import { readFileSync } from "node:fs";
import { keepResults } from "../bench/graphql/keep-results.ts";
import { overloadPlot } from "../bench/overload/plot.ts";
import type { ReliabilityResults } from "../figures/reliability-tables.ts";

interface FuzzResults {
  readonly inputs: number;
  readonly seconds: number;
  readonly failures: readonly unknown[];
}

/** Replaces one section of `lab/bench/results/reliability.json`, and draws `reliability.svg`. */
export function publishReliability(section: "fuzz" | "faults" | "overload"): (figures: unknown, day: string) => void {
  return (figures, day) => {
    const kept = JSON.parse(readFileSync("lab/bench/results/reliability.json", "utf8")) as ReliabilityResults;
    const read = section === "fuzz" ? fuzzed(figures as FuzzResults) : (figures as object);
    const results: ReliabilityResults = { ...kept, node: process.version, [section]: { day, ...read } };
    keepResults("reliability", results, overloadPlot(results.overload));
  };
}

/** The inputs that have failed are not published, only their number. */
function fuzzed({ inputs, seconds, failures }: FuzzResults): Omit<ReliabilityResults["fuzz"], "day"> {
  return { inputs, seconds, failures: failures.length };
}
