import type { Order } from "./order.ts";

/** One exact value that a row is sorted by. Text that a database returned for a time or a large number stays text. */
export type KeyValue = null | boolean | number | bigint | string | Date;
/** The values of a row in the columns of the order, which are its position in the list. */
export type KeyTuple = readonly KeyValue[];

/** The property under which Portico's handlers attach the keys of the rows to a list. */
export const KEYS: unique symbol = Symbol("keys");
/** Rows that may come with their keys. */
export type KeyedRows<T> = readonly T[] & { readonly [KEYS]?: (index: number) => KeyTuple };

/**
 * Thrown by a handler for a key that does not fit its columns. The error then blames the client's cursor, not the
 * handler.
 */
export class KeyMisfit extends Error {
  override readonly name: string = "KeyMisfit";
}

/** Returns the value of an item's field as a key, or `undefined` if it cannot be one. */
export function keyValueOf(value: unknown): KeyValue | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint")
    return value;
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value;
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value : undefined;
}

/**
 * Compares two values in a column of an order. Values of the same kind are compared as numbers, times, booleans or
 * texts. Unless the order places nulls, they are greater than everything else.
 */
export function compareKeys(a: KeyValue, b: KeyValue, [, direction, nulls]: Order[number]): number {
  if (a === null || b === null) {
    if (a === b) return 0;
    const isNullLast = nulls === undefined ? direction === "asc" : nulls === "nulls last";
    return (a === null) === isNullLast ? 1 : -1;
  }
  return direction === "asc" ? compareValues(a, b) : -compareValues(a, b);
}

function compareValues(a: NonNullable<KeyValue>, b: NonNullable<KeyValue>): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA !== rankB) return rankA - rankB;
  return a < b ? -1 : a > b ? 1 : 0;
}

function rank(value: NonNullable<KeyValue>): number {
  if (typeof value === "number" || typeof value === "bigint") return 1;
  if (typeof value === "boolean") return 0;
  return typeof value === "string" ? 3 : 2;
}
