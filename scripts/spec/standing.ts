import { foldIds } from "./ids.ts";
import type { Outcome } from "./report.ts";

/** How ids of the specification stand, each id in exactly one list; `stale` also stands in `proved`. */
export interface Standing {
  readonly proved: readonly string[];
  /** A test names it and failed. */
  readonly failed: readonly string[];
  /** In `spec/waiting.md`, and not proved. */
  readonly waiting: readonly string[];
  /** Neither proved nor waiting: no test names it, or only a skipped one. */
  readonly missing: readonly string[];
  /** Proved, and still in `spec/waiting.md`. */
  readonly stale: readonly string[];
}

/** Sorts `ids` by what the tests and `spec/waiting.md` say of them. */
export function standing(
  ids: readonly string[],
  outcomes: ReadonlyMap<string, Outcome>,
  waiting: ReadonlyMap<string, string>,
): Standing {
  const is = (outcome: Outcome) => (id: string) => outcomes.get(id) === outcome;
  const open = ids.filter((id) => !is("passed")(id) && !is("failed")(id));
  return {
    proved: ids.filter(is("passed")),
    failed: ids.filter(is("failed")),
    waiting: open.filter((id) => waiting.has(id)),
    missing: open.filter((id) => !waiting.has(id)),
    stale: ids.filter((id) => is("passed")(id) && waiting.has(id)),
  };
}

/** The lines that list every id that is not proved, and why. */
export function describeStanding(found: Standing, waiting: ReadonlyMap<string, string>): string[] {
  const parts = Map.groupBy(found.waiting, (id) => waiting.get(id) ?? "");
  const lines = [...parts].map(([part, ids]) => `  waits for ${part}: ${foldIds(ids)}`);
  if (found.failed.length > 0) lines.push(`  failed: ${foldIds(found.failed)}`);
  if (found.missing.length > 0) lines.push(`  no test: ${foldIds(found.missing)}`);
  return lines;
}
