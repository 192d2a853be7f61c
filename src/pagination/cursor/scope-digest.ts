import { createHash } from "node:crypto";
import type { Order } from "../keys/order.ts";

export const SCOPE_BYTES = 8;

/**
 * Returns a digest of the values that a cursor is bound to: the name of the list, its order, the author's `cursorScope`,
 * the name of the list's authorization rule and the client's filters.
 */
export function scopeDigest(
  name: string,
  order: Order,
  cursorScope: Readonly<Record<string, unknown>> | undefined,
  rule?: string,
  filters: string | null = null,
): Buffer {
  const values = [name, order, cursorScope === undefined ? null : canonical(cursorScope)];
  const restrictions = filters === null ? (rule === undefined ? [] : [rule]) : [rule ?? null, filters];
  const text = JSON.stringify([...values, ...restrictions]);
  return createHash("sha256").update(text).digest().subarray(0, SCOPE_BYTES);
}

/**
 * Returns equal text for equal content, in whatever order it was built. Throws `TypeError` for a value whose content
 * cannot be read.
 */
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

/**
 * Detects an object without fields, such as a URL. Two of them would look equal, so their lists would share cursors.
 */
function hidden(value: object): unknown {
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON !== "function") throw unreadable(value.constructor.name);
  return { json: canonical(toJSON.call(value)) };
}

function unreadable(kind: string): TypeError {
  return new TypeError(`cursorScope must not contain a ${kind}: pass the values themselves`);
}
