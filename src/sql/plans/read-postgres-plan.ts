import type { PlanNeeds } from "../queries/plan-needs.ts";
import type { PlanProblem } from "./plan-problem.ts";

/** The parts of a node of `EXPLAIN (FORMAT JSON)` that matter here. */
export interface PostgresNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Alias?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PostgresNode[];
}

/** Returns the problems in a plan of PostgreSQL. */
export function readPostgresPlan(root: PostgresNode, needs: PlanNeeds, isDeep: boolean): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  const visit = (node: PostgresNode, isSorted: boolean): void => {
    problems.push(...problemsOf(node, needs, isDeep, isSorted));
    const type = node["Node Type"];
    // A sort above a limit sorts the few rows of some ranges.
    const isSortedBelow = type === "Limit" ? false : isSorted || type.endsWith("Sort");
    for (const child of node.Plans ?? []) visit(child, isSortedBelow);
  };
  visit(root, false);
  return problems;
}

function problemsOf(node: PostgresNode, needs: PlanNeeds, isDeep: boolean, isSorted: boolean): readonly PlanProblem[] {
  const table = node["Relation Name"];
  if (table === undefined) return [];
  const isMain = needs.table === null || (table === needs.table && node.Alias === needs.alias);
  if (isSorted && isMain) return [{ kind: "sort", table }];
  if (node["Node Type"] === "Seq Scan") return [{ kind: "scan", table }];
  if (!isMain) return [];
  const skipped = needs.equal.find((column) => mentions(node.Filter, column));
  if (skipped !== undefined) return [{ kind: "filter", table, column: skipped }];
  const isSeek = [node, ...(node.Plans ?? [])].some((part) => part["Index Cond"] !== undefined);
  return isDeep && !isSeek ? [{ kind: "start", table }] : [];
}

function mentions(condition: string | undefined, column: string): boolean {
  return condition !== undefined && condition.split(/[^\w$]+/).includes(column);
}
