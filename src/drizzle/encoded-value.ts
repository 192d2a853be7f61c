import type { Column } from "drizzle-orm";
import type { ConditionValue } from "../pagination/condition.ts";

/**
 * Returns a value as the driver of a column needs it, such as a `Date` as text. A value of another type than the
 * column's, such as a `Date` for a column with the mode `"string"`, is passed to the driver as it is.
 */
export function encodedValue(column: Column, value: ConditionValue): ConditionValue {
  if (value === null || !fits(column, value)) return value;
  const encoded: unknown = column.mapToDriverValue(value);
  return isPlain(encoded) ? encoded : value;
}

function fits({ dataType }: Column, value: ConditionValue): boolean {
  return dataType === (value instanceof Date ? "date" : typeof value) || dataType === "custom";
}

function isPlain(value: unknown): value is ConditionValue {
  return value instanceof Date || ["string", "number", "bigint", "boolean"].includes(typeof value);
}
