import type { Form, Part } from "./part.ts";
import { resultTable, time } from "./result-table.ts";
import { KeptResults } from "./results.ts";
import { runPart } from "./run-part.ts";

export interface NightlyRun {
  readonly form: Form;
  readonly seed: number;
  /** All parts, for the table. */
  readonly known: readonly Part[];
  /** Those that run. */
  readonly chosen: readonly Part[];
  /** @default the current folder */
  readonly root?: string;
  /** @default today */
  readonly day?: () => string;
  readonly print?: (text: string) => void;
}

/** Runs the parts one after the other, keeps their results and prints those of all parts. Returns the names of those that failed. */
export async function runNightly(given: NightlyRun): Promise<readonly string[]> {
  const { form, seed, known, chosen, root = ".", day = today, print = console.log } = given;
  const kept = new KeptResults(form, root);
  const failed: string[] = [];
  print(`nightly: ${chosen.length} parts, ${form} form, seed ${seed}`);
  for (const part of chosen) {
    print(`\n=== ${part.name}: ${part.does} (usually ${part.minutes[form]} min)`);
    const result = await runPart(part, { form, seed, day: day(), folder: kept.folder });
    kept.keep(part.name, result);
    if (result.outcome === "failed") failed.push(part.name);
    print(`=== ${part.name}: ${result.outcome} in ${time(result.seconds)}`);
  }
  const names = chosen.map(({ name }) => name);
  print(`\nThe last results of the ${form} form; those of this run have an asterisk:`);
  print(resultTable(known, kept.of(known), names));
  const passed = chosen.length - failed.length;
  print(
    `nightly: ${passed} passed, ${failed.length} failed${failed.map((name) => `, ${name}`).join("")}; seed ${seed}`,
  );
  return failed;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
