import type { EngineName } from "../servers/engines.ts";
import type { ListDeclaration, ListFilter } from "./list-declaration.ts";
import type { ListRow } from "./list-rows.ts";

/** Returns the ids of a list in order, without a database and without code of the framework. */
export function expectedIds(name: EngineName, list: ListDeclaration, rows: readonly ListRow[]): readonly number[] {
  const last = list.order.at(-1)?.[1] === "desc" ? -1 : 1;
  return rows
    .filter((row) => list.filter === null || isMet(list.filter, row))
    .toSorted((a, b) => {
      for (const [column, direction, nulls] of list.order) {
        const [left, right] = [a[column] ?? null, b[column] ?? null];
        if (left === right) continue;
        const isByDefaultLast = (name === "PostgreSQL") === (direction === "asc");
        const place = nulls ?? (list.nulls === undefined ? null : `nulls ${list.nulls}`);
        const isNullLast = place === null ? isByDefaultLast : place === "nulls last";
        if (left === null) return isNullLast ? 1 : -1;
        if (right === null) return isNullLast ? -1 : 1;
        const compared = compare(column, left, right);
        if (compared !== 0) return direction === "asc" ? compared : -compared;
      }
      return (a.id - b.id) * last;
    })
    .map(({ id }) => id);
}

/** A row whose column is null passes only a test for null. */
function isMet({ column, test, value }: ListFilter, row: ListRow): boolean {
  const found = row[column];
  if (test === "isNull") return (found === null) === value > 0;
  if (typeof found !== "number") return false;
  if (test === "equal") return found === value;
  if (test === "in") return found === value || found === value + 1;
  return test === "lt" ? found < value : found >= value;
}

function compare(column: string, left: string | number, right: string | number): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const [one, other] = [String(left), String(right)];
  if (/^(?:bigint|decimal)_/.test(column)) return compareNumbers(scaled(one), scaled(other));
  // Text is compared by its bytes, a time by its digits.
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function compareNumbers(one: bigint, other: bigint): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** A number with at most ten decimals as a whole number. */
function scaled(text: string): bigint {
  const [whole = "0", decimals = ""] = text.split(".");
  return BigInt(whole + decimals.padEnd(10, "0"));
}
