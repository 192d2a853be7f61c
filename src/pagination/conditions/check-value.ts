/**
 * Throws `TypeError` for the name of a column that cannot be one. The table is not part of it, because the query decides
 * which table that is. A NUL is rejected because it separates parameters in compiled statements.
 */
export function checkColumn(place: string, name: unknown): void {
  if (typeof name === "string" && /^[^.\0]+$/.test(name)) return;
  throw new TypeError(`${place} requires the name of a column, without its table, received ${nameOf(name)}`);
}

/** Throws `TypeError` for the name of a table that cannot be one. It may have a schema. */
export function checkTable(place: string, name: unknown): void {
  if (typeof name === "string" && /^[^.\0]+(?:\.[^.\0]+)?$/.test(name)) return;
  throw new TypeError(`${place} requires the name of a table, with or without its schema, received ${nameOf(name)}`);
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(name) : typeName(name);
}

/** Throws `TypeError` for a value that no column can hold. The message names the column. */
export function checkValue(place: string, column: string, value: unknown): void {
  if (value === null || ["string", "bigint", "boolean"].includes(typeof value)) return;
  if (typeof value === "number" && !Number.isNaN(value)) return;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  throw new TypeError(
    `${place}("${column}", ...) requires a string, number, bigint, boolean, Date or null, received ${typeName(value)}`,
  );
}

/** Returns the type without the value, which may be personal data. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (typeof value === "bigint") return "number";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : "Date";
  return typeof value === "object" ? "an object" : typeof value;
}
