import type { Condition } from "../conditions/condition.ts";
import { isEqual, isIn, isNotNull, isNull, loosely } from "../conditions/is-equal.ts";
import { isInRange } from "../conditions/is-in-range.ts";
import { startsWith } from "../conditions/starts-with.ts";
import type { FilterValue } from "./filter-value.ts";
import type { FilterField, FilterOperator, FilterTest } from "./filterable.ts";

const TESTS: Readonly<Record<FilterOperator, readonly FilterTest[]>> = {
  equal: ["equal"],
  in: ["in"],
  range: ["gt", "gte", "lt", "lte"],
  prefix: ["startsWith"],
  null: ["isNull"],
};

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
      return loosely(startsWith(column, value as string));
    case "isNull":
      return (value === true ? isNull : isNotNull)(column);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return isInRange(column, { [test]: value as number | Date });
  }
}
