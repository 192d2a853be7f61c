import { createHash } from "node:crypto";
import type { Order } from "../order.ts";

export const SCOPE_BYTES = 8;

/** What a cursor is bound to: the list's name, its order, and what the author says it is filtered by. */
export function scopeDigest(name: string, order: Order, filter: Readonly<Record<string, unknown>> | undefined): Buffer {
  const text = JSON.stringify([name, order, filter === undefined ? null : canonical(filter)]);
  return createHash("sha256").update(text).digest().subarray(0, SCOPE_BYTES);
}

/** The same for the same content, however it was put together. */
function canonical(value: unknown): unknown {
  if (typeof value === "bigint") return { bigint: value.toString() };
  if (value === undefined) return { undefined: true };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return { date: value.getTime() };
  if (Array.isArray(value)) return value.map(canonical);
  return Object.entries(value)
    .map(([key, entry]) => [key, canonical(entry)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
