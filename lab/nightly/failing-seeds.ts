import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";

/** A property test that failed with a seed. It stays in the list, and is run with that seed by `test/failing-seeds.servers.test.ts`. */
export interface FailingSeed {
  readonly file: string;
  /** The titles of its groups and its own, with ` > ` between them, as Vitest shows and matches them. */
  readonly test: string;
  readonly seed: number;
  readonly day: string;
}

/** Vitest's JSON report. */
export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const LIST = new URL("../../spec/failing-seeds.json", import.meta.url);

export function readFailingSeeds(list: URL = LIST): readonly FailingSeed[] {
  return JSON.parse(readFileSync(list, "utf8")) as readonly FailingSeed[];
}

/** The tests that failed, each with the seed that its message names, or with the one of the run. */
export function failingSeeds(report: TestReport, seed: number, day: string, root: string): readonly FailingSeed[] {
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ ancestorTitles, title, failureMessages }) => {
        const named = failureMessages
          .join("\n")
          .match(/(?<=\bPORTICO_SEED=)\d+/g)
          ?.at(-1);
        const test = [...ancestorTitles, title].join(" > ");
        return { file: relative(root, name), test, seed: Number(named ?? seed), day };
      }),
  );
}

/** Adds failures to the list, except those that it has. Returns the added ones. */
export function addFailingSeeds(found: readonly FailingSeed[], list: URL = LIST): readonly FailingSeed[] {
  const known = readFailingSeeds(list);
  const added = found.filter(
    ({ file, test, seed }) => !known.some((old) => old.file === file && old.test === test && old.seed === seed),
  );
  if (added.length > 0) writeFileSync(list, `${JSON.stringify([...known, ...added], null, 2)}\n`);
  return added;
}
