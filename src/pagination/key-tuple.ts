/** One value of a key: what a row is sorted by, exactly. Text that a database gave for a time or a large number stays text. */
export type KeyValue = null | boolean | number | bigint | string | Date;
/** The values of a row in the columns of the order: its place in the list. */
export type KeyTuple = readonly KeyValue[];

/** Where a handler of ours leaves the keys of the rows that it gives: on their list, one for each. */
export const KEYS: unique symbol = Symbol("keys");
/** Rows that may come with their keys. */
export type KeyedRows<T> = readonly T[] & { readonly [KEYS]?: (index: number) => KeyTuple };

/** A handler throws it for a key that does not fit its columns: the client's cursor is then at fault, not the handler. */
export class KeyMisfit extends Error {
  override readonly name: string = "KeyMisfit";
}

/** The value of an item's field as a key. `undefined` when it cannot be one. */
export function keyValueOf(value: unknown): KeyValue | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint")
    return value;
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value;
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value : undefined;
}

/** Numbers, times, truth values and texts each among themselves; nulls after everything else. */
export function compareKeys(a: KeyValue, b: KeyValue): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (a === null || b === null) return 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

function rank(value: KeyValue): number {
  if (value === null) return 9;
  if (typeof value === "number" || typeof value === "bigint") return 1;
  if (typeof value === "boolean") return 0;
  return typeof value === "string" ? 3 : 2;
}
