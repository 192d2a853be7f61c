import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { foldIds } from "./spec/ids.ts";
import { type Outcome, outcomes, readCurrentReport } from "./spec/report.ts";
import { describeStanding, standing } from "./spec/standing.ts";
import { type Chapter, chapters } from "./spec/tables.ts";
import { deliver, type Verdict } from "./spec/verdict.ts";
import { waitingFor } from "./spec/waiting.ts";

/** What the command reads, and what it was asked to judge. */
export interface ClausesInput {
  readonly clauses: string;
  readonly waiting: string;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Chapter prefixes (`RES`). None: every chapter is reported and none is judged. */
  readonly chapters: readonly string[];
  /** Judge every chapter. */
  readonly all?: boolean;
}

/**
 * Compares the clauses with the tests that ran. Always fails on an id that is in no table and on a proved clause
 * that still waits; fails on a clause that is neither proved nor waiting in the chapters it was asked to judge.
 */
export function judgeClauses(input: ClausesInput): Verdict {
  const all = chapters(input.clauses);
  const known = all.flatMap(({ ids }) => ids);
  const waiting = waitingFor(input.waiting, known);
  const looked = input.chapters.length === 0 ? all : chosen(all, input.chapters);
  const judged = input.all === true || input.chapters.length > 0;
  const lines: string[] = [];
  const faults: string[] = [];
  let proved = 0;

  for (const { title, ids } of looked) {
    const found = standing(ids, input.outcomes, waiting);
    proved += found.proved.length;
    if (found.proved.length < ids.length) {
      lines.push(`${title} (${prefix(ids[0] ?? "")}): ${found.proved.length} of ${ids.length} proved`);
      lines.push(...describeStanding(found, waiting));
    }
    if (found.stale.length > 0) faults.push(`proved, and still in spec/waiting.md: ${foldIds(found.stale)}`);
    const open = [...found.failed, ...found.missing];
    if (judged && open.length > 0) faults.push(`neither proved nor in spec/waiting.md: ${foldIds(open)}`);
  }
  const unknown = [...input.outcomes.keys()].filter((id) => !id.includes(":") && !known.includes(id));
  if (unknown.length > 0) faults.push(`in a test's title, and in no table: ${unknown.join(", ")}`);

  const total = looked.reduce((sum, { ids }) => sum + ids.length, 0);
  lines.push(...faults.map((fault) => `error: ${fault}`), `${proved} of ${total} clauses proved`);
  return { lines, ok: faults.length === 0 };
}

function chosen(all: readonly Chapter[], prefixes: readonly string[]): Chapter[] {
  return prefixes.map((wanted) => {
    const chapter = all.find(({ ids }) => prefix(ids[0] ?? "") === wanted);
    if (chapter !== undefined) return chapter;
    throw new Error(`there is no chapter ${wanted}: ${all.map(({ ids }) => prefix(ids[0] ?? "")).join(" ")}`);
  });
}

function prefix(id: string): string {
  return id.slice(0, id.indexOf("-"));
}

if (import.meta.main) {
  deliver("clauses", () => {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: { all: { type: "boolean" } } });
    return judgeClauses({
      clauses: readFileSync("spec/clauses.md", "utf8"),
      waiting: readFileSync("spec/waiting.md", "utf8"),
      outcomes: outcomes(readCurrentReport()),
      chapters: positionals,
      all: values.all ?? false,
    });
  });
}
