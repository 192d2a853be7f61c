import { readdirSync, readFileSync } from "node:fs";
import { foldIds } from "./spec/ids.ts";
import { type Outcome, outcomes, readCurrentReport } from "./spec/report.ts";
import { describeStanding, standing } from "./spec/standing.ts";
import { chapters } from "./spec/tables.ts";
import { deliver, type Verdict } from "./spec/verdict.ts";
import { corporaWaiting, waitingFor } from "./spec/waiting.ts";

/** What the command reads, and what it was asked to judge. */
export interface CorpusInput {
  /** The text of each corpus by its name. */
  readonly corpora: ReadonlyMap<string, string>;
  readonly waiting: string;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Names of corpora. None: all of them. */
  readonly names: readonly string[];
}

/**
 * Compares the rows of the corpora with the tests that ran. A row fails when a test that names it failed, and when it
 * has no test and does not wait. An id that is in no table, and a passed row that still waits, are errors too.
 */
export function judgeCorpora(input: CorpusInput): Verdict {
  const unknown = unknownIds(input);
  const faults: string[] = unknown.length > 0 ? [`in a title or in spec/waiting.md, and in no table: ${unknown}`] : [];
  const lines: string[] = [];
  const sum = { passed: 0, failed: 0, waiting: 0 };

  for (const name of input.names.length > 0 ? input.names : input.corpora.keys()) {
    const rows = rowsOf(input, name);
    const waiting = waitingFor(input.waiting, rows, name);
    const found = standing(rows, outcomesOf(input, name), waiting);
    const failed = [...found.failed, ...found.missing];
    lines.push(`${name}: ${found.proved.length} passed, ${failed.length} failed, ${found.waiting.length} waiting`);
    lines.push(...describeStanding(found, waiting));
    if (found.stale.length > 0) faults.push(`${name}: passed, and still in spec/waiting.md: ${foldIds(found.stale)}`);
    sum.passed += found.proved.length;
    sum.failed += failed.length;
    sum.waiting += found.waiting.length;
  }
  lines.push(...faults.map((fault) => `error: ${fault}`));
  lines.push(`${sum.passed} passed, ${sum.failed} failed, ${sum.waiting} waiting`);
  return { lines, ok: faults.length === 0 && sum.failed === 0 };
}

function unknownIds(input: CorpusInput): string {
  const names = corporaWaiting(input.waiting).filter((name) => !input.corpora.has(name));
  const ids = [...input.outcomes.keys()].filter((id) => {
    const [name = "", row] = id.split(":");
    return row !== undefined && !(input.corpora.has(name) && rowsOf(input, name).includes(row));
  });
  return [...names, ...ids].join(", ");
}

function rowsOf(input: CorpusInput, name: string): string[] {
  const text = input.corpora.get(name);
  if (text === undefined) throw new Error(`there is no corpus "${name}": ${[...input.corpora.keys()].join(" ")}`);
  return chapters(text).flatMap(({ ids }) => ids);
}

function outcomesOf(input: CorpusInput, name: string): Map<string, Outcome> {
  const own = [...input.outcomes].filter(([id]) => id.startsWith(`${name}:`));
  return new Map(own.map(([id, outcome]) => [id.slice(name.length + 1), outcome]));
}

if (import.meta.main) {
  deliver("corpus", () => {
    const files = readdirSync("spec/corpus").filter((file) => file.endsWith(".md"));
    return judgeCorpora({
      corpora: new Map(files.map((file) => [file.slice(0, -3), readFileSync(`spec/corpus/${file}`, "utf8")])),
      waiting: readFileSync("spec/waiting.md", "utf8"),
      outcomes: outcomes(readCurrentReport()),
      names: process.argv.slice(2),
    });
  });
}
