import type { MaybePromise } from "../../core/maybe-promise.ts";
import { Slice } from "../../core/work/slice.ts";
import { largeData } from "../execute/plan/large-data.ts";

/** The most values that are serialized without a pause. */
const MAX_AT_ONCE = 200;

/** The data of a response as JSON. Large data are serialized in slices. Throws or rejects for data that JSON cannot represent. */
export function printData(data: unknown): MaybePromise<string> {
  return typeof data === "object" && data !== null && largeData.has(data) ? printInSlices(data) : JSON.stringify(data);
}

async function printInSlices(data: object): Promise<string> {
  const slice = new Slice();
  const parts: string[] = [];
  for (const part of partsOf(data)) {
    parts.push(part);
    if (slice.isOver(MAX_AT_ONCE / 8)) await slice.rest();
  }
  return parts.join("");
}

/** The text of a value in parts, of which each has few values. */
function* partsOf(value: unknown): Generator<string, void, void> {
  if (countValues(value, MAX_AT_ONCE) <= MAX_AT_ONCE) yield JSON.stringify(value) ?? "null";
  else if (Array.isArray(value)) yield* partsOfList(value);
  else yield* partsOfObject(value as Readonly<Record<string, unknown>>);
}

function* partsOfList(list: readonly unknown[]): Generator<string, void, void> {
  let open = "[";
  for (let from = 0; from < list.length; ) {
    const to = endOfPart(list, from);
    // Small items are serialized together, because a part costs as much as several of them.
    if (to - from > 1) yield open + JSON.stringify(list.slice(from, to)).slice(1, -1);
    else {
      yield open;
      yield* partsOf(list[from]);
    }
    open = ",";
    from = to;
  }
  yield "]";
}

/** The end of the items from an index on that have few values together: at least one. */
function endOfPart(list: readonly unknown[], from: number): number {
  let to = from;
  for (let left = MAX_AT_ONCE; to < list.length && left > 0; to++) left -= countValues(list[to], left);
  return to - from > 1 && countValues(list[to - 1], MAX_AT_ONCE) > MAX_AT_ONCE ? to - 1 : to;
}

function* partsOfObject(object: Readonly<Record<string, unknown>>): Generator<string, void, void> {
  let open = "{";
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined || typeof value === "function" || typeof value === "symbol") continue;
    yield `${open}${JSON.stringify(key)}:`;
    yield* partsOf(value);
    open = ",";
  }
  yield open === "{" ? "{}" : "}";
}

/** Counts the values in a value, up to one more than `most`. A value that is not plain data counts as one. */
function countValues(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  if (Array.isArray(value)) {
    if (typeof (value as { toJSON?: unknown }).toJSON === "function") return 1;
    for (let index = 0; index < value.length && count <= most; index++)
      count += countValues(value[index], most - count);
    return count;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (!isPlain || typeof (value as { toJSON?: unknown }).toJSON === "function") return 1;
  for (const key in value) {
    if (count > most) break;
    count += countValues((value as Record<string, unknown>)[key], most - count);
  }
  return count;
}
