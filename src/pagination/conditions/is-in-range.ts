import { checkColumn, typeName } from "./check-value.ts";
import { ColumnReference } from "./column.ts";
import { allOf, type Condition, type RangeOperator, type RangeValue, Term } from "./condition.ts";

/** The bounds of a range: `gt` and `lt` exclude their value, `gte` and `lte` include it. */
export interface RangeBounds<C extends string = string> {
  readonly gt?: RangeValue | ColumnReference<C>;
  readonly gte?: RangeValue | ColumnReference<C>;
  readonly lt?: RangeValue | ColumnReference<C>;
  readonly lte?: RangeValue | ColumnReference<C>;
}

const OPERATORS: Readonly<Record<keyof RangeBounds, RangeOperator>> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };

/**
 * Matches rows whose number, date or time is within the bounds. A null is in no range, and text has no ranges, because
 * collations differ. Times are compared by the millisecond, as a `Date` has them, and a date begins at midnight. A bound
 * that is `undefined` throws `TypeError`, so that a missing value never widens a list.
 *
 * @example
 * ```ts
 * import { column, isInRange } from "portico";
 *
 * const running = (now: Date) => isInRange("starts_at", { lte: now });
 * const affordable = isInRange("price", { gte: 0, lt: 5_000 });
 * const inStock = isInRange("reserved", { lt: column("stock") });
 * ```
 */
export function isInRange<const C extends string, const D extends string = never>(
  column: C,
  bounds: RangeBounds<D>,
): Condition<C | D> {
  checkColumn("isInRange", column);
  const place = `isInRange("${column}", ...)`;
  if (typeof bounds !== "object" || bounds === null || Array.isArray(bounds))
    throw new TypeError(`${place} requires bounds such as { gte: 1, lt: 5 }, received ${typeName(bounds)}`);
  const given = Object.entries(bounds) as [keyof RangeBounds, unknown][];
  for (const [name, value] of given) {
    if (!Object.hasOwn(OPERATORS, name))
      throw new TypeError(`${place} has no bound ${name}: the bounds are gt, gte, lt and lte`);
    if (!(value instanceof ColumnReference)) checkRangeValue(place, name, value);
  }
  for (const [one, other] of [
    ["gt", "gte"],
    ["lt", "lte"],
  ] as const) {
    if (one in bounds && other in bounds)
      throw new TypeError(`${place} has both ${one} and ${other}: keep one of them`);
  }
  if (given.length === 0) throw new TypeError(`${place} requires at least one bound`);
  return allOf(
    given.map(([name, value]) => compared<C | D>(column, OPERATORS[name], value as RangeValue | ColumnReference<D>)),
  );
}

/** Matches rows whose column is before or after the value. */
export function compared<const C extends string>(
  column: C,
  operator: RangeOperator,
  value: RangeValue | ColumnReference<C>,
): Condition<C> {
  if (value instanceof ColumnReference) return new Term({ kind: "columns", column, operator, other: value["~column"] });
  return new Term({ kind: "compare", column, operator, value });
}

function checkRangeValue(place: string, bound: string, value: unknown): void {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))) return;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  const received =
    value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY ? "infinity" : typeName(value);
  throw new TypeError(`${place}.${bound} must be a finite number, bigint, Date or column(...), received ${received}`);
}
