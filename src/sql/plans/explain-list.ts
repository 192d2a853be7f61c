import { createQueryId, createSelectQueryBuilder, type Kysely } from "kysely";
import { KEYS, type KeyedRows, type KeyTuple } from "../../pagination/keys/key-tuple.ts";
import { type Order, reversed, withUniqueKey } from "../../pagination/keys/order.ts";
import { tenantNeeds } from "../lists/merge-choice.ts";
import { columnOf } from "../lists/splits-of.ts";
import type { TableHandler } from "../lists/table-handler.ts";
import { hasIndexFor } from "../queries/has-index-for.ts";
import { keyValues } from "../queries/keyed-items.ts";
import { helpfulIndex, type PlanNeeds, planNeeds } from "../queries/plan-needs.ts";
import { offsetOrder, offsetQuery } from "../queries/rows-at.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { EXPLAINED_LIMIT, type ExplainedStatement, explain } from "./explain.ts";
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
 * @param hasTenants whether an index must begin with the column of a rule, so that the rows of others cost nothing
 */
export async function explainList(
  database: Kysely<any>,
  handler: TableHandler<any, any>,
  orders: readonly Order[] | null,
  hasTenants: boolean,
): Promise<ListPlans> {
  const { query, shape, uniqueKey } = handler["~source"];
  const faults: PlanFault[] = [];
  const withoutRows: string[] = [];
  let count = 0;
  const examine = async (
    order: string,
    needs: PlanNeeds,
    pages: readonly Page[],
    tenants: readonly PlanNeeds[] = [],
  ): Promise<void> => {
    const [tenant] = tenants;
    const isTenantServed = await someOf(tenants, (one) => hasIndexFor(query, shape.dialect, one));
    let isServed: Promise<boolean> | undefined;
    for (const { name, isDeep, statement } of pages) {
      count++;
      for (const problem of await explain(database, shape.dialect, statement, needs, isDeep)) {
        isServed ??= isTenantServed ? Promise.resolve(true) : hasIndexFor(query, shape.dialect, needs);
        if (problem.table === needs.table && (await isServed)) continue;
        faults.push(faultOf(handler, order, name, statement, tenant ?? needs, problem));
      }
    }
    const [first] = pages;
    if (tenant === undefined || isTenantServed || first === undefined) return;
    // The plan for a small tenant in a large table reads the rows of the others on the way to a page.
    const problem = { kind: "filter", table: tenant.table ?? "", column: tenant.equal[0] ?? "" } as const;
    faults.push(faultOf(handler, order, first.name, first.statement, tenant, problem));
  };
  // Sorting by a column may be the default order.
  const distinct = new Map(
    (orders ?? []).map((order) => withUniqueKey(order, uniqueKey)).map((o) => [orderText(o), o]),
  );
  for (const order of distinct.values()) {
    const pages = [...(await seekPages(handler, order, "forward")), ...(await seekPages(handler, order, "backward"))];
    if (!pages.some(({ isDeep }) => isDeep)) withoutRows.push(orderText(order));
    const placed = await shape.placedOrder(query, order, uniqueKey);
    await examine(orderText(order), planNeeds(query, placed), pages, hasTenants ? tenantsOf(handler, placed) : []);
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

/** The needs of the list for the rows of one tenant, for each column whose values a rule restricts. */
function tenantsOf(handler: TableHandler<any, any>, order: Order): readonly PlanNeeds[] {
  const { query, shape, uniqueKey } = handler["~source"];
  // MariaDB and MySQL would not use the index.
  if (shape.dialect === "mysql") return [];
  // A value of the unique key has one row.
  const columns = handler["~splits"].map(columnOf).filter((column) => uniqueKey.length > 1 || uniqueKey[0] !== column);
  return columns.flatMap((column) => tenantNeeds(query, [column], order) ?? []);
}

async function someOf<V>(values: readonly V[], test: (value: V) => Promise<boolean>): Promise<boolean> {
  for (const value of values) if (await test(value)) return true;
  return false;
}

/** The list on the pool of the database. */
export function onDatabase(database: Kysely<any>, handler: TableHandler<any, any>): TableHandler<any, any> {
  const { shape } = handler["~source"];
  const executor = database.getExecutor().withoutPlugins().withPlugins(shape.origin.plugins);
  return handler["~through"]((query) => {
    // The other plugins have already been applied.
    const queryNode = query.toOperationNode();
    return createSelectQueryBuilder<any, any, any>({ queryId: createQueryId(), queryNode, executor }) as AnyQuery;
  });
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
