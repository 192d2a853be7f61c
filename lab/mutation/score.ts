import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./instrument.ts";
import type { Entry } from "./journal.ts";

/** A mutant that no test noticed. None of the fields changes with an edit elsewhere in the file. */
export interface Survivor {
  readonly file: string;
  /** The line on which the mutated text begins. */
  readonly line: string;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
}

/** The result for one folder. */
export interface Score {
  readonly killed: number;
  readonly total: number;
  readonly survivors: readonly FoundSurvivor[];
}

export interface FoundSurvivor extends Survivor {
  readonly at: number;
  /** The number of tests that ran with the mutant. */
  readonly tests: number;
}

const root = join(import.meta.dirname, "../..");

/** The mutants that a test has noticed, and the number of tests that ran with each mutant. */
export function outcomesIn(entries: readonly Entry[]): {
  readonly killed: ReadonlySet<string>;
  readonly tests: ReadonlyMap<string, number>;
} {
  const killed = new Set(entries.flatMap((entry) => (entry.kind === "killed" ? [entry.mutant] : [])));
  const tests = new Map<string, number>();
  for (const id of entries.flatMap((entry) => (entry.kind === "done" ? entry.covered : []))) {
    tests.set(id, (tests.get(id) ?? 0) + 1);
  }
  return { killed, tests };
}

/** Counts the mutants, except for those that only run while modules are loaded: no test can run them again. */
export function scoreOf(mutants: readonly Mutant[], entries: readonly Entry[]): Score {
  const { killed, tests } = outcomesIn(entries);
  const loaded = new Set(entries.flatMap((entry) => (entry.kind === "static" ? entry.mutants : [])));
  const judged = mutants.filter(({ id }) => killed.has(id) || tests.has(id) || !loaded.has(id));
  const survivors = judged
    .filter(({ id }) => !killed.has(id))
    .map((mutant) => ({ ...survivorOf(mutant), tests: tests.get(mutant.id) ?? 0 }));
  return { killed: judged.length - survivors.length, total: judged.length, survivors };
}

/** How a mutant is named in reports and explanations. */
export function survivorOf({
  fileName,
  location: { start, end },
  mutatorName,
  replacement = "",
}: Mutant): Omit<FoundSurvivor, "tests"> {
  // Stryker numbers lines from 0.
  const lines = readFileSync(join(root, fileName), "utf8")
    .split("\n")
    .slice(start.line, end.line + 1);
  const last = lines.length - 1;
  const original = lines
    .map((text, index) => text.slice(index === 0 ? start.column : 0, index === last ? end.column : undefined))
    .join(" ");
  return {
    file: fileName,
    line: (lines[0] ?? "").trim(),
    mutator: mutatorName,
    original: onOneLine(original),
    replacement: onOneLine(replacement),
    at: start.line + 1,
  };
}

const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The 95 % interval of a share that was found in a sample, by Wilson. */
export function interval({ killed, total }: Pick<Score, "killed" | "total">): readonly [low: number, high: number] {
  if (total === 0) return [0, 1];
  const z = 1.96;
  const share = killed / total;
  const middle = share + z ** 2 / (2 * total);
  const half = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  const scale = 1 + z ** 2 / total;
  return [(middle - half) / scale, (middle + half) / scale];
}
