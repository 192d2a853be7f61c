import { createHash } from "node:crypto";
import type { Order } from "../order.ts";

export const SCOPE_BYTES = 8;

/** What a cursor is bound to: the list's name, its order, and what the author says it is filtered by. */
export function scopeDigest(name: string, order: Order, filter: Readonly<Record<string, unknown>> | undefined): Buffer {
  const text = JSON.stringify([name, order, filter === undefined ? null : canonical(filter)]);
  return createHash("sha256").update(text).digest().subarray(0, SCOPE_BYTES);
}

/** The same for the same content, however it was put together. Throws `TypeError` for a value whose content cannot be read. */
function canonical(value: unknown): unknown {
  if (typeof value === "bigint") return { bigint: value.toString() };
  if (typeof value === "number" && !Number.isFinite(value)) return { number: String(value) };
  if (value === undefined) return { undefined: true };
  if (typeof value === "function" || typeof value === "symbol") throw unreadable(typeof value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return { date: value.getTime() };
  if (Array.isArray(value)) return value.map(canonical);
  if (value instanceof Map) return { map: unordered(value) };
  if (value instanceof Set) return { set: unordered(value) };
  const entries = Object.entries(value);
  if (entries.length === 0 && !isPlain(value)) return hidden(value);
  return entries.map(([key, entry]) => [key, canonical(entry)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function unordered(entries: Iterable<unknown>): readonly string[] {
  return [...entries].map((entry) => JSON.stringify(canonical(entry))).toSorted();
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || ArrayBuffer.isView(value);
}

/** An object without fields, such as a URL: two of them would look the same, and their lists would share cursors. */
function hidden(value: object): unknown {
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== "function") throw unreadable(value.constructor.name);
  return { json: canonical(toJSON.call(value)) };
}

function unreadable(kind: string): TypeError {
  return new TypeError(`the filter of a list cannot hold a ${kind}: pass the values that it stands for`);
}
