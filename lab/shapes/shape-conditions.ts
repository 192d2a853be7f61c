import { column, exists, isEqual, isIn, isInRange, isNotNull, startsWith } from "../../src/index.ts";
import { allOf, anyOf, type Condition, inverse } from "../../src/pagination/conditions/condition.ts";
import { conditionOf } from "../../src/pagination/filter/tests-of.ts";
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
    case "present":
      return isNotNull(field);
    case "prefix":
      return startsWith(field, node.value);
    case "range":
      return isInRange(node.column, { [node.bound]: node.value });
    case "columns":
      return node.bound === "equal"
        ? isEqual("rank", column("parent_id"))
        : isInRange("rank", { [node.bound]: column("parent_id") });
    case "itself":
      return isEqual(field, column(field));
    case "owner in the organisation":
      return exists({
        from: "owners",
        on: { project_id: "id", organisation_id: field },
        where: isEqual("title", node.title),
      });
    case "any owner":
      return exists({ from: "owners", where: isEqual("title", node.title) });
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
