import { keyOfItem } from "../keys/key-of-item.ts";
import { KEYS, type KeyedRows, type KeyTuple } from "../keys/key-tuple.ts";
import type { Order } from "../keys/order.ts";
import type { AnyHandler } from "./data-handler.ts";

/** Returns a function for the keys of items that a handler returned: those that came with them, or else their fields. */
export function keysOf<T>(handler: AnyHandler<T>, found: KeyedRows<T>, order: Order): (index: number) => KeyTuple {
  return (
    found[KEYS] ??
    ((index) => {
      const item = found[index] as T;
      return handler.keyOf?.(item, order) ?? keyOfItem(item, order);
    })
  );
}
