import type { PlanNeeds } from "../queries/plan-needs.ts";
import type { PlanProblem } from "./plan-problem.ts";

/** A row of `EXPLAIN QUERY PLAN`. */
export interface SqliteStep {
  readonly parent: number | bigint;
  readonly detail: string;
}

/** `SEARCH books USING INDEX by_author (author_id=? AND id>?)` */
const ACCESS = /^(SCAN|SEARCH) (\S+)(?: USING ([^(]*?))?(?: \((.*)\))?$/;

/**
 * Returns the problems in a plan of SQLite.
 *
 * @param partial the names of the partial indexes, whose conditions the plan does not show
 */
export function readSqlitePlan(
  steps: readonly SqliteStep[],
  needs: PlanNeeds,
  isDeep: boolean,
  partial: ReadonlySet<string>,
): readonly PlanProblem[] {
  const sorted = new Set(
    steps.filter(({ detail }) => detail.startsWith("USE TEMP B-TREE FOR")).map(({ parent }) => Number(parent)),
  );
  return steps.flatMap(({ parent, detail }): readonly PlanProblem[] => {
    const [, access, name = "", index = "", terms = ""] = ACCESS.exec(detail) ?? [];
    // Subqueries have names in parentheses, or names that start with ~ where Portico chose them.
    if (access === undefined || /^["'`[]?[(~]/.test(name)) return [];
    const isMain = needs.table === null || name === needs.alias;
    const table = name === needs.alias ? (needs.table ?? name) : name;
    if (isMain && sorted.has(Number(parent))) return [{ kind: "sort", table }];
    if (index.startsWith("AUTOMATIC")) return [{ kind: "scan", table }];
    if (!isMain) return access === "SCAN" ? [{ kind: "scan", table }] : [];
    const used = terms.split(" AND ").filter((term) => /[^<>]=\?$/.test(term));
    const isPartial = partial.has(index.split(" ").at(-1) ?? "");
    const skipped = isPartial ? undefined : needs.equal.find((column) => !used.includes(`${column}=?`));
    // The rowid has its own name.
    if (skipped !== undefined && !used.includes("rowid=?")) return [{ kind: "filter", table, column: skipped }];
    return isDeep && access === "SCAN" ? [{ kind: "start", table }] : [];
  });
}
