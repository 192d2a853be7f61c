import { type KeyTuple, type KeyValue, keyValueOf } from "./key-tuple.ts";
import type { Order } from "./order.ts";

/** The key of an item by its fields. Throws a `TypeError` that names the field which is missing or cannot be a key. */
export function keyOfItem(item: unknown, order: Order): KeyTuple {
  return order.map(([column]): KeyValue => {
    if (typeof item !== "object" || item === null || !(column in item))
      throw new TypeError(`the cursor strategy orders by ${column}, and an item has no such field`);
    const value = keyValueOf((item as Record<string, unknown>)[column]);
    if (value === undefined)
      throw new TypeError(`the cursor strategy orders by ${column}, whose value in an item can be no key`);
    return value;
  });
}
