import { optional, resolveOptions, textList } from "../core/resolve-options.ts";
import type { StatementWatch } from "./watch-statements.ts";

/** The options of `expectPlans`. */
export interface PlansOptions {
  /** The fields and routes whose plans may be slow, such as `["GET /reports"]`. @default none */
  readonly except?: readonly string[];
}

/**
 * Checks that an index serves every list that was read during the watch: for the default order and each sortable column,
 * ascending and descending, on the first page and a deep page, forward and backward. The database explains each
 * statement. The result does not depend on the size of the tables, but a deep page needs a row.
 *
 * Throws an error that names the field or the route, and the `CREATE INDEX` that would help, if a list scans or sorts its
 * table, or reads rows that an equality of its query leaves out, for a page or for a count that was sent. On PostgreSQL and
 * SQLite, that index begins with the column of a rule with `isIn`, so that the rows of other tenants cost nothing. A count
 * without an equality may read its table. It also throws if no list was read, and for lists that it can't explain, such as those of
 * a custom data handler: name them in `except`.
 *
 * @example
 * ```ts
 * import type { PorticoApp } from "portico";
 * import type { Database } from "portico/sql";
 * import { expectPlans, testClient, watchStatements } from "portico/testing";
 *
 * declare const app: PorticoApp;
 * declare const database: Database;
 * using watch = watchStatements(database);
 *
 * const client = testClient(app);
 * await client.get("/books");
 * await client.graphql("{ authors { nodes { books { nodes { title } } } } }");
 * await expectPlans(watch);
 * ```
 */
export async function expectPlans(watch: StatementWatch, options: PlansOptions = {}): Promise<void> {
  const { except } = resolveOptions("expectPlans", options, rules);
  // Kysely is an optional dependency of applications, and of their tests.
  const { examineLists } = await import("../sql/plans/examine-lists.ts");
  const lists = watch.lists.filter(({ place }) => !except.includes(place));
  const sent = new Set(watch.statements.map(({ sql }) => sql));
  const { plans, unchecked } = await examineLists(watch.database, lists, sent);
  // A list in memory has no statement for each page.
  const blind = unchecked.filter(({ isInMemory }) => !isInMemory);
  if (plans.length + blind.length === 0)
    throw new Error("expectPlans proves nothing: no list of tableHandler was read since the watch started");
  const faults = plans.flatMap(({ place, faults: found, counts, gaps }) => [
    ...found.map(({ problem, order, page, index, sql }) => {
      const fix = index ?? "no index of one table can serve this order";
      return `${place} ${problem} (${page}, ordered by ${order}): ${fix}\n  ${sql}`;
    }),
    ...counts.map(({ problem, index, sql }) => `${place} ${problem}: ${index}\n  ${sql}`),
    ...gaps.map((gap) => `${place}: not checked: ${gap}`),
  ]);
  faults.push(
    ...blind.map(({ place, reason }) => `${place}: not checked: ${reason}. Add it to except if that is intended`),
  );
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

const rules = { except: optional(textList("a list of fields and routes"), []) };
