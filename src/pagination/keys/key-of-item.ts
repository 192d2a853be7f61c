import { type KeyTuple, type KeyValue, keyValueOf } from "./key-tuple.ts";
import type { Order } from "./order.ts";

/** Returns the key of an item from its fields. Throws a `TypeError` that names a missing or unsortable field. */
export function keyOfItem(item: unknown, order: Order): KeyTuple {
  return order.map(([column]): KeyValue => {
    if (typeof item !== "object" || item === null || !(column in item))
      throw new TypeError(`the cursor strategy orders by ${column}, but an item does not have this field`);
    const value = keyValueOf((item as Record<string, unknown>)[column]);
    if (value === undefined)
      throw new TypeError(
        `the cursor strategy orders by ${column}, but an item has a value there that cannot be sorted`,
      );
    return value;
  });
}
