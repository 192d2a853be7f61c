import { allOf, anyOf, type Condition, inverse, isEqual, isIn } from "../../src/pagination/condition.ts";
import { conditionOf } from "../../src/pagination/filter/filter-test.ts";
import type { ShapeFilter, ShapeRule } from "./shape-case.ts";

/** Returns the condition of a rule. `field` is the name that the rows have the organisation under. */
export function ruleCondition(node: ShapeRule, field: string): Condition {
  const memberOf = (where: Condition): Condition =>
    isIn(field, { from: "memberships", column: "organisation_id", where });
  switch (node.kind) {
    case "equal":
      return isEqual(field, node.value);
    case "in":
      return isIn(field, node.values);
    case "member":
      return memberOf(isEqual("user_id", node.user));
    case "owned":
      return isIn("id", { from: "owners", column: "project_id", where: isEqual("title", node.title) });
    case "member of an owner": {
      const owned = isIn("organisation_id", {
        from: "owners",
        column: "organisation_id",
        where: isEqual("title", node.title),
      });
      return memberOf(allOf([isEqual("user_id", node.user), owned]));
    }
    case "not":
      return inverse(ruleCondition(node.of, field));
    case "all":
    case "any":
      return (node.kind === "all" ? allOf : anyOf)(node.of.map((part) => ruleCondition(part, field)));
  }
}

/** Returns the condition of a filter, as a request with it would. */
export function filterCondition({ column, test, value }: ShapeFilter): Condition {
  return conditionOf(column, test, value);
}
