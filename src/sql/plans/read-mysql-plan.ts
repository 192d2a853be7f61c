import type { PlanNeeds } from "../queries/plan-needs.ts";
import type { PlanProblem } from "./plan-problem.ts";

/** A table in `EXPLAIN FORMAT=JSON` of MariaDB and MySQL. */
interface TableStep {
  readonly table_name?: string;
  readonly access_type?: string;
  readonly used_key_parts?: readonly string[];
}

/** Returns the problems in a plan of MariaDB or MySQL. */
export function readMysqlPlan(root: unknown, needs: PlanNeeds, isDeep: boolean): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  const visit = (value: unknown, isSorted: boolean): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      if (name === "table") problems.push(...problemsOf(part as TableStep, needs, isDeep, isSorted));
      // A subquery has its own limit.
      visit(part, name !== "query_block" && (isSorted || isSort(name, part)));
    }
  };
  visit(root, false);
  return problems;
}

/** Whether a part of a plan sorts the rows below it: MariaDB and MySQL name it differently. */
function isSort(name: string, part: unknown): boolean {
  if (name === "filesort") return true;
  return name === "ordering_operation" && (part as { readonly using_filesort?: boolean }).using_filesort === true;
}

function problemsOf(step: TableStep, needs: PlanNeeds, isDeep: boolean, isSorted: boolean): readonly PlanProblem[] {
  const { table_name: name, access_type: access, used_key_parts: parts = [] } = step;
  // The names of subqueries are in angle brackets, and start with ~ where Portico chose them.
  if (name === undefined || name.startsWith("<") || name.startsWith("~")) return [];
  const isMain = needs.table === null || name === needs.alias;
  const table = name === needs.alias ? (needs.table ?? name) : name;
  if (isSorted && isMain) return [{ kind: "sort", table }];
  if (access === "ALL") return [{ kind: "scan", table }];
  if (!isMain) return [];
  const isWalk = access === "index";
  const skipped = needs.equal.find((column) => isWalk || !parts.includes(column));
  if (skipped !== undefined && access !== "const") return [{ kind: "filter", table, column: skipped }];
  return isDeep && isWalk ? [{ kind: "start", table }] : [];
}
