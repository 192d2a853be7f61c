import { checkColumn } from "./check-value.ts";

/** Another column of the same row, which a condition compares with. */
export class ColumnReference<out C extends string = string> {
  declare readonly "~columns"?: C;
  readonly "~column": string;
  constructor(name: string) {
    this["~column"] = name;
  }
}

/**
 * Another column of the row, in place of a value for `isEqual` and `isInRange`. Both columns should have the same type.
 *
 * @example
 * ```ts
 * import { column, isEqual, isInRange, not } from "portico";
 *
 * const approvedByAnother = not(isEqual("approved_by", column("author_id")));
 * const overBudget = isInRange("spent", { gt: column("budget") });
 * ```
 */
export function column<const C extends string>(name: C): ColumnReference<C> {
  checkColumn("column", name);
  return new ColumnReference(name);
}
