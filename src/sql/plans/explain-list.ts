import { createQueryId, createSelectQueryBuilder, type Kysely } from "kysely";
import { KEYS, type KeyedRows, type KeyTuple } from "../../pagination/keys/key-tuple.ts";
import { type Order, reversed, withUniqueKey } from "../../pagination/keys/order.ts";
import type { TableHandler } from "../lists/table-handler.ts";
import { isNullMoved, type KeyColumn } from "../queries/key-column.ts";
import { keyValues } from "../queries/keyed-items.ts";
import { offsetOrder, offsetQuery } from "../queries/rows-at.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { EXPLAINED_LIMIT, type ExplainedStatement, explain } from "./explain.ts";
import { hasIndexFor } from "./has-index-for.ts";
import { helpfulIndex, type PlanNeeds, planNeeds } from "./plan-needs.ts";
import { type PlanProblem, problemText } from "./plan-problem.ts";

/** A page whose cost grows with the table. */
export interface PlanFault {
  /** The order of the list, such as `title desc, id desc`. */
  readonly order: string;
  /** The page, such as `first page, backward`. */
  readonly page: string;
  /** The problem, such as `sorts the table books`. */
  readonly problem: string;
  /** The statement that creates the missing index; `null` if one index cannot serve the list. */
  readonly index: string | null;
  readonly sql: string;
}

/** The plans of one list. */
export interface ListPlans {
  /** The number of pages that were explained. */
  readonly pages: number;
  readonly faults: readonly PlanFault[];
  /** The orders without rows, whose deep pages could not be explained. */
  readonly withoutRows: readonly string[];
}

/** A page of a list to explain. */
interface Page {
  readonly name: string;
  readonly isDeep: boolean;
  readonly statement: ExplainedStatement;
}

/**
 * Explains the first page and a deep page of a list, in each order, forward and backward.
 *
 * @param database runs the statements, because the transaction that the list was read in may have ended
 * @param orders the orders that clients can choose; `null` for a list by offset, which has the order of its query
 */
export async function explainList(
  database: Kysely<any>,
  handler: TableHandler<any, any>,
  orders: readonly Order[] | null,
): Promise<ListPlans> {
  const { query, shape, uniqueKey } = handler["~source"];
  const faults: PlanFault[] = [];
  const withoutRows: string[] = [];
  let count = 0;
  const examine = async (order: string, needs: PlanNeeds, pages: readonly Page[]): Promise<void> => {
    let isServed: Promise<boolean> | undefined;
    for (const { name, isDeep, statement } of pages) {
      count++;
      for (const problem of await explain(database, shape.dialect, statement, needs, isDeep)) {
        isServed ??= hasIndexFor(database, shape.dialect, needs);
        if (problem.table === needs.table && (await isServed)) continue;
        faults.push(faultOf(handler, order, name, statement, needs, problem));
      }
    }
  };
  // Sorting by a column may be the default order.
  const distinct = new Map(
    (orders ?? []).map((order) => withUniqueKey(order, uniqueKey)).map((o) => [orderText(o), o]),
  );
  for (const order of distinct.values()) {
    const pages = [...(await seekPages(handler, order, "forward")), ...(await seekPages(handler, order, "backward"))];
    if (!pages.some(({ isDeep }) => isDeep)) withoutRows.push(orderText(order));
    await examine(orderText(order), planNeeds(query, await placedOrder(handler, order)), pages);
  }
  if (orders === null) {
    const order = offsetOrder(query, uniqueKey);
    await examine(orderText(order), planNeeds(query, order), [
      offsetPage(handler, "first page", false),
      offsetPage(handler, "last page", true),
    ]);
  }
  return { pages: count, faults, withoutRows };
}

/** The order as the statement has it: only PostgreSQL has indexes with a place for nulls, and only where it differs. */
async function placedOrder(handler: TableHandler<any, any>, order: Order): Promise<Order> {
  const { query, shape, uniqueKey } = handler["~source"];
  const columns = await shape.columns(query, order, uniqueKey);
  return order.map(([column, way, nulls], at) => {
    const isPlaced = shape.dialect === "postgres" && isNullMoved("postgres", columns[at] as KeyColumn);
    return isPlaced && nulls !== undefined ? [column, way, nulls] : [column, way];
  });
}

/** The list on the pool of the database. */
export function onDatabase(database: Kysely<any>, handler: TableHandler<any, any>): TableHandler<any, any> {
  const { query, shape } = handler["~source"];
  const bound = createSelectQueryBuilder<any, any, any>({
    queryId: createQueryId(),
    queryNode: query.toOperationNode(),
    // The other plugins have already been applied.
    executor: database.getExecutor().withoutPlugins().withPlugins(shape.origin.plugins),
  });
  return handler["~with"](bound as AnyQuery);
}

/** The first page and the page after its first row. */
async function seekPages(
  handler: TableHandler<any, any>,
  order: Order,
  direction: "forward" | "backward",
): Promise<readonly Page[]> {
  const { query, shape, parameters, uniqueKey } = handler["~source"];
  const directed = direction === "forward" ? order : reversed(order);
  const columns = await shape.columns(query, directed, uniqueKey);
  const limit = EXPLAINED_LIMIT[shape.dialect];
  const pageAt = (name: string, key: KeyTuple | null): Page => {
    const isNull = key === null ? null : key.map((value) => value === null);
    const statement = shape.statement(query, directed, columns, isNull, limit, null);
    const values = statement.values(parameters, key === null ? [] : keyValues(shape.dialect, columns, key));
    return {
      name: `${name}, ${direction}`,
      isDeep: key !== null,
      statement: { sql: statement.text, parameters: values },
    };
  };
  const found = (await handler.getItemsAfter({ order, key: null, direction }, 1)) as KeyedRows<unknown>;
  const key = found.length === 0 ? undefined : found[KEYS]?.(0);
  return [pageAt("first page", null), ...(key === undefined ? [] : [pageAt("deep page", key)])];
}

function offsetPage(handler: TableHandler<any, any>, name: string, isReversed: boolean): Page {
  const { query, shape, uniqueKey } = handler["~source"];
  const limited = offsetQuery(query, uniqueKey, isReversed).limit(EXPLAINED_LIMIT[shape.dialect]);
  return { name, isDeep: false, statement: limited.compile() };
}

function faultOf(
  handler: TableHandler<any, any>,
  order: string,
  page: string,
  { sql }: ExplainedStatement,
  needs: PlanNeeds,
  problem: PlanProblem,
): PlanFault {
  const { dialect } = handler["~source"].shape;
  // An index for a table that is joined depends on the join.
  const isMain = needs.table === null || problem.table === needs.table;
  return { order, page, problem: problemText(problem), index: isMain ? helpfulIndex(dialect, needs) : null, sql };
}

function orderText(order: readonly (Order[number] | null)[]): string {
  return order
    .map((entry) => {
      if (entry === null) return "an expression";
      const [column, way] = entry;
      return way === "asc" ? column : `${column} desc`;
    })
    .join(", ");
}
