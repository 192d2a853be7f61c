import type { Kysely } from "kysely";
import type { TableHandler } from "../lists/table-handler.ts";
import { hasIndexFor } from "../queries/has-index-for.ts";
import { helpfulIndex, planNeeds } from "../queries/plan-needs.ts";
import { explain } from "./explain.ts";
import { problemText } from "./plan-problem.ts";

/** A count that reads rows which an equality of its query leaves out. */
export interface CountFault {
  /** The problem, such as `reads the whole table books to count its rows`. */
  readonly problem: string;
  /** The statement that creates the missing index. */
  readonly index: string;
  readonly sql: string;
}

/**
 * Explains the counts of a list that were sent. A count of all rows has to read them, and one with an equality needs an index
 * that begins with its columns.
 *
 * @param sent the texts of the statements that were sent
 */
export async function explainCount(
  database: Kysely<any>,
  handler: TableHandler<any, any>,
  caps: readonly (number | null)[],
  sent: ReadonlySet<string>,
): Promise<readonly CountFault[]> {
  const { query, shape, parameters } = handler["~source"];
  const { dialect } = shape;
  const needs = planNeeds(query, []);
  const index = helpfulIndex(dialect, needs);
  if (needs.equal.length === 0 || index === null) return [];
  const faults: CountFault[] = [];
  for (const cap of caps) {
    const count = shape.count(query, cap);
    if (!sent.has(count.text)) continue;
    const statement = { sql: count.text, parameters: count.values(parameters, []) };
    const found = await explain(database, dialect, statement, needs, false);
    const problem = found.find(({ table }) => table === needs.table);
    if (problem === undefined || (await hasIndexFor(query, dialect, needs))) continue;
    faults.push({ problem: `${problemText(problem)} to count its rows`, index, sql: count.text });
  }
  return faults;
}
