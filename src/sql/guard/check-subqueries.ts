import type { KyselyPlugin, OperationNode, QueryId } from "kysely";
import { unguarded } from "./unguarded.ts";

type Query = Parameters<KyselyPlugin["transformQuery"]>[0];

/** The queries of handles with rules. An expression builder has no handle, so that its subqueries are parts of their query. */
const withRules = new WeakSet<OperationNode>();
/** The queries as they were built, before plugins have copied them. */
const built = new WeakMap<QueryId, OperationNode>();

/** The first plugin of a guarded database. */
export const FIRST_OF_DATABASE: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => {
    built.set(queryId, node);
    markWithRules(node);
    return node;
  },
  transformResult: async ({ result }) => result,
};

/** Notes that a query has rules, wherever it is embedded. */
export function markWithRules(node: OperationNode): void {
  withRules.add(node);
}

/** Throws if a query without rules contains one of another handle, whose rules would be lost. */
export function checkSubqueries({ node, queryId }: Query): void {
  withRules.delete(node);
  if (Object.values(built.get(queryId) ?? node).some(hasRules))
    throw unguarded(
      "a subquery of another handle inside a query of asSystem, which would run without its rules: build both with one handle",
    );
}

function hasRules(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(hasRules);
  if (typeof part !== "object" || part === null || !("kind" in part)) return false;
  return withRules.has(part as OperationNode) || Object.values(part).some(hasRules);
}
