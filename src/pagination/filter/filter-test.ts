import { type Condition, inverse, isCompared, isEqual, isIn, isNull, isPrefixed, loosely } from "../condition.ts";
import type { FilterValue } from "./filter-value.ts";
import type { FilterField, FilterOperator } from "./filterable.ts";

/** One comparison, as clients write it. An operator has one or several of them. */
export type FilterTest = "equal" | "in" | "gt" | "gte" | "lt" | "lte" | "startsWith" | "isNull";

const TESTS: Readonly<Record<FilterOperator, readonly FilterTest[]>> = {
  equal: ["equal"],
  in: ["in"],
  range: ["gt", "gte", "lt", "lte"],
  prefix: ["startsWith"],
  null: ["isNull"],
};
const COMPARISONS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** The comparisons that clients may make with a filter. */
export function testsOf({ operators }: FilterField): readonly FilterTest[] {
  return operators.flatMap((operator) => TESTS[operator]);
}

/** The query parameter of a comparison: `price.gte`, and `genre` for an equality. */
export function parameterOf(name: string, test: FilterTest): string {
  return test === "equal" ? name : `${name}.${test}`;
}

/** The condition on the rows of the list. */
export function conditionOf(column: string, test: FilterTest, value: FilterValue): Condition {
  switch (test) {
    case "equal":
      return loosely(isEqual(column, value as string));
    case "in":
      return loosely(isIn(column, value as readonly string[]));
    case "startsWith":
      return isPrefixed(column, value as string);
    case "isNull":
      return value === true ? isNull(column) : inverse(isNull(column));
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return isCompared(column, COMPARISONS[test], value as number | Date);
  }
}
