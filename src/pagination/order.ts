import { type OptionRule, REFUSED } from "../core/resolve-options.ts";

export type Direction = "asc" | "desc";
/** Columns by priority, each with its direction. */
export type Order<C extends string = string> = readonly (readonly [column: C, direction: Direction])[];

/** Makes an order total: appends the missing unique columns in the direction of the last column. */
export function withUniqueKey(order: Order, uniqueKey: readonly string[]): Order {
  const named = new Set(order.map(([column]) => column));
  const missing = uniqueKey.filter((column) => !named.has(column));
  if (missing.length === 0) return order;
  const direction = order.at(-1)?.[1] ?? "asc";
  return [...order, ...missing.map((column) => [column, direction] as const)];
}

/** Returns the order with every direction reversed. */
export function reversed(order: Order): Order {
  return order.map(([column, direction]) => [column, direction === "asc" ? "desc" : "asc"] as const);
}

export const orderRule: OptionRule<Order> = {
  expected: 'a list of distinct columns with directions, such as [["created_at", "desc"]]',
  wrongEntry: (list) => list.findIndex((entry, at) => !isColumn(entry) || isNamedBefore(list, at)),
  read: (value) => (isOrder(value) ? Object.freeze(value.map(([column, way]) => [column, way] as const)) : REFUSED),
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
  if (!Array.isArray(entry) || entry.length !== 2) return false;
  const [column, direction] = entry as unknown[];
  return typeof column === "string" && column !== "" && (direction === "asc" || direction === "desc");
}
