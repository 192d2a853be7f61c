import { tableHandler } from "../../src/sql/index.ts";
import type { AnyQuery } from "../../src/sql/statements/any-query.ts";
import type { Engine, EngineName } from "../servers/engines.ts";
import {
  asNumber,
  compare,
  type Handler,
  onShapeTables,
  outcomes,
  type ShapeOptions,
  type ShapeReport,
} from "./check-shapes.ts";
import { expectedRows, type ShapeRow } from "./expected-shape.ts";
import { foreignQueries } from "./foreign-queries.ts";
import { type ForeignCase, generateForeignLists } from "./shape-case.ts";
import { filterCondition, ruleCondition } from "./shape-conditions.ts";

type ForeignQuery = (typeof foreignQueries)[number];

/**
 * Makes lists with a rule, a filter and an order over queries that applications write. JavaScript applies them to the rows that
 * the query returns on its own, so a query needs no model of what it means.
 */
export function checkForeignQueries(
  name: EngineName,
  options: ShapeOptions,
  queries: readonly ForeignQuery[] = foreignQueries,
): Promise<ShapeReport<ForeignCase & { readonly name: string }>> {
  return onShapeTables(name, options, async (engine) => {
    const known = queries.filter(({ on }) => on === undefined || on.includes(name));
    const rows = new Map<ForeignQuery, readonly ShapeRow[]>();
    for (const one of known) rows.set(one, await rowsOf(engine, one));
    const cases = generateForeignLists(options.count, options.seed, known.length);
    return outcomes(
      cases.map((one) => ({ ...one, name: (known[one.query] as ForeignQuery).name })),
      options.count,
      (list) => {
        const query = known[list.query] as ForeignQuery;
        return examine(engine, query, list, rows.get(query) ?? []);
      },
    );
  });
}

async function rowsOf(engine: Engine, query: ForeignQuery): Promise<readonly ShapeRow[]> {
  const rows: readonly any[] = await (query.of(engine.database, engine) as AnyQuery).execute();
  return rows.map(({ organisation_id: organisation, rank, ...row }) => ({
    ...row,
    rank: asNumber(rank),
    // A rule compares a number with a text as text.
    organisation: typeof organisation === "number" ? String(organisation) : organisation,
    isNumber: typeof organisation === "number",
  }));
}

async function examine(
  engine: Engine,
  query: ForeignQuery,
  list: ForeignCase,
  rows: readonly ShapeRow[],
): Promise<string | null> {
  try {
    const handler = tableHandler(query.of(engine.database, engine) as AnyQuery) as Handler;
    const ruled = handler.scopedTo(ruleCondition(list.rule, "organisation_id"));
    const scoped = list.filter === null ? ruled : ruled.scopedTo(filterCondition(list.filter));
    const difference = await compare(scoped, list, "organisation_id", expectedRows(engine.name, rows, list));
    return difference ?? "checked";
  } catch (error) {
    return query.refused?.test(String(error)) === true ? "refused" : String(error);
  }
}
