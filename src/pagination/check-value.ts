/**
 * Throws `TypeError` for the name of a column or table that cannot be one. A NUL is rejected because it separates
 * parameters in compiled statements.
 */
export function checkName(place: string, name: unknown): void {
  if (typeof name === "string" && name !== "" && !name.includes("\0")) return;
  throw new TypeError(
    `${place} requires a name that is not empty, received ${name === "" ? "an empty one" : typeName(name)}`,
  );
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
