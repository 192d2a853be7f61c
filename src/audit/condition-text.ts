import type { ConditionNode, PresentValue } from "../pagination/condition.ts";

/** A condition as a person would write it, with the word caller for the id of the caller. */
export function conditionText(node: ConditionNode, caller: string): string {
  switch (node.kind) {
    case "always":
      return "all";
    case "never":
      return "none";
    case "null":
      return `${node.column} is null`;
    case "equal":
      return `${node.column} = ${valueText(node.value, caller)}`;
    case "in":
      return `${node.column} in (${node.values.map((value) => valueText(value, caller)).join(", ")})`;
    case "compare":
      return `${node.column} ${node.operator} ${valueText(node.value, caller)}`;
    case "prefix":
      return `${node.column} begins with ${valueText(node.value, caller)}`;
    case "related": {
      const where = node.where.kind === "always" ? "" : ` where ${conditionText(node.where, caller)}`;
      return `${node.column} in (${node.from}.${node.key}${where})`;
    }
    case "not":
      return `not (${conditionText(node.of, caller)})`;
    case "all":
    case "any":
      return node.of
        .map((one) =>
          one.kind === "all" || one.kind === "any" ? `(${conditionText(one, caller)})` : conditionText(one, caller),
        )
        .join(node.kind === "all" ? " and " : " or ");
  }
}

function valueText(value: PresentValue, caller: string): string {
  if (value === caller) return "caller";
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return value instanceof Date ? value.toISOString() : String(value);
}
