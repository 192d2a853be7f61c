import { ExpressionWrapper, type OperationNode, type OrderByItemNode, RawNode, ReferenceNode } from "kysely";
import type { Order } from "../../pagination/keys/order.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { senderOf } from "../statements/sender-of.ts";
import { QueryColumns } from "./query-columns.ts";

/**
 * Returns the rows from an offset, in the query's order, made total by the unique key.
 *
 * If the number of rows is known and the offset is in the second half, they are read from the other end.
 */
export async function rowsAt(
  query: AnyQuery,
  uniqueKey: readonly string[],
  offset: number,
  limit: number,
  totalItems: number | undefined,
): Promise<readonly unknown[]> {
  const items = orderItems(query, uniqueKey);
  const isFar = totalItems !== undefined && offset > totalItems / 2 && items.every(({ way }) => way !== null);
  if (!isFar) return ordered(query, items, false).limit(limit).offset(offset).execute();
  const count = Math.min(limit, totalItems - offset);
  const rows = await ordered(query, items, true)
    .limit(count)
    .offset(totalItems - offset - count)
    .execute();
  return rows.toReversed();
}

/** Returns the query in the order in which `rowsAt` reads it, or in the reverse of it. */
export function offsetQuery(query: AnyQuery, uniqueKey: readonly string[], isReversed: boolean): AnyQuery {
  return ordered(query, orderItems(query, uniqueKey), isReversed);
}

/** Returns the columns of that order, with `null` for an expression. */
export function offsetOrder(query: AnyQuery, uniqueKey: readonly string[]): readonly (Order[number] | null)[] {
  return orderItems(query, uniqueKey).map(({ node, way, original }) => {
    const name = ReferenceNode.is(node) ? nameOf(node) : undefined;
    if (name === undefined || way === null) return null;
    return original?.nulls === undefined ? [name, way] : [name, way, `nulls ${original.nulls}`];
  });
}

interface OrderItem {
  readonly node: OperationNode;
  /** `null` for a direction that cannot be reversed. */
  readonly way: "asc" | "desc" | null;
  readonly original: OrderByItemNode | null;
}

function orderItems(given: AnyQuery, uniqueKey: readonly string[]): readonly OrderItem[] {
  // The rules of a guard don't change the order, and reading each column of a query would add them once more.
  const query = senderOf(given) ?? given;
  const declared = (query.toOperationNode().orderBy?.items ?? []).map(
    (original): OrderItem => ({ node: original.orderBy, way: wayOf(original), original }),
  );
  const named = new Set(declared.map(({ node }) => (ReferenceNode.is(node) ? nameOf(node) : undefined)));
  const way = declared.at(-1)?.way ?? "asc";
  const columns = new QueryColumns(query);
  const missing = uniqueKey.filter((column) => !named.has(column));
  return [
    ...declared,
    ...missing.map((column) => ({ node: columns.find(column).expression.toOperationNode(), way, original: null })),
  ];
}

function nameOf({ column }: ReferenceNode): string | undefined {
  return column.kind === "ColumnNode" ? column.column.name : undefined;
}

function wayOf({ direction }: OrderByItemNode): OrderItem["way"] {
  if (direction === undefined) return "asc";
  const text = RawNode.is(direction) ? direction.sqlFragments.join("").trim().toLowerCase() : "";
  return text === "asc" || text === "desc" ? text : null;
}

function ordered(query: AnyQuery, items: readonly OrderItem[], isReversed: boolean): AnyQuery {
  return items.reduce((built: AnyQuery, { node, way, original }) => {
    // A direction in raw SQL is never reversed.
    if (way === null && original !== null)
      return built.orderBy(new ExpressionWrapper<any, any, unknown>(original) as never);
    const expression = new ExpressionWrapper<any, any, unknown>(node);
    const turned = isReversed ? (way === "asc" ? "desc" : "asc") : way;
    return built.orderBy(expression as never, (item) => {
      const placed = turned === "desc" ? item.desc() : item.asc();
      if (original?.nulls === undefined) return placed;
      return (original.nulls === "first") === isReversed ? placed.nullsLast() : placed.nullsFirst();
    });
  }, query.clearOrderBy());
}
