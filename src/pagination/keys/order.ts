import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";

export type Direction = "asc" | "desc";
/** Where a column's nulls come in the list, in either direction. */
export type NullPlacement = "nulls first" | "nulls last";
/**
 * Columns by priority, each with its direction, and optionally with the place of its nulls:
 * `[["priority", "desc", "nulls last"], ["id", "desc"]]`. By default, the source places nulls.
 */
export type Order<C extends string = string> = readonly (readonly [
  column: C,
  direction: Direction,
  nulls?: NullPlacement,
])[];

/** Makes an order total: appends the missing unique columns in the direction of the last column. */
export function withUniqueKey(order: Order, uniqueKey: readonly string[]): Order {
  const named = new Set(order.map(([column]) => column));
  const missing = uniqueKey.filter((column) => !named.has(column));
  if (missing.length === 0) return order;
  const direction = order.at(-1)?.[1] ?? "asc";
  return [...order, ...missing.map((column) => [column, direction] as const)];
}

/** Places the nulls of all columns that do not place them themselves. */
export function withNulls(order: Order, placement: NullPlacement | undefined): Order {
  if (placement === undefined) return order;
  return order.map(([column, direction, nulls = placement]) => [column, direction, nulls] as const);
}

/** Returns the order with every direction and every placement of nulls reversed. */
export function reversed(order: Order): Order {
  return order.map(([column, direction, nulls]) => {
    const way = direction === "asc" ? "desc" : "asc";
    return nulls === undefined ? [column, way] : [column, way, nulls === "nulls last" ? "nulls first" : "nulls last"];
  });
}

export const orderRule: OptionRule<Order> = {
  expected:
    'a list of distinct columns with directions, such as [["created_at", "desc"]], and optionally "nulls first" or "nulls last" in third place',
  wrongEntry: (list) => list.findIndex((entry, at) => !isColumn(entry) || isNamedBefore(list, at)),
  read: (value) => (isOrder(value) ? Object.freeze(value.map(copied)) : REFUSED),
};

function isOrder(value: unknown): value is Order {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((entry, at) => isColumn(entry) && !isNamedBefore(value, at));
}

function isNamedBefore(list: readonly unknown[], at: number): boolean {
  const column = (list[at] as Order[number])[0];
  return list.slice(0, at).some((entry) => (entry as Order[number])[0] === column);
}

function isColumn(entry: unknown): boolean {
  if (!Array.isArray(entry) || entry.length < 2 || entry.length > 3) return false;
  const [column, direction, nulls] = entry as unknown[];
  const isPlaced = nulls === undefined || nulls === "nulls first" || nulls === "nulls last";
  return typeof column === "string" && column !== "" && (direction === "asc" || direction === "desc") && isPlaced;
}

/** An absent placement stays absent, because cursors are bound to the order. */
function copied([column, direction, nulls]: Order[number]): Order[number] {
  return nulls === undefined ? [column, direction] : [column, direction, nulls];
}
