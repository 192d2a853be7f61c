import type { ConditionNode, PresentValue } from "../../pagination/conditions/condition.ts";

type Related = Extract<ConditionNode, { readonly kind: "related" }>;

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
    case "columns":
      return `${node.column} ${node.operator} ${node.other}`;
    case "related":
      return relatedText(node, caller);
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

function relatedText({ on, from, where }: Related, caller: string): string {
  const rows = where.kind === "always" ? "" : ` where ${conditionText(where, caller)}`;
  const [pair] = on;
  if (pair === undefined) return `${from} has a row${rows}`;
  if (on.length === 1) return `${pair.column} in (${from}.${pair.key}${rows})`;
  const columns = on.map(({ column }) => column).join(", ");
  const keys = on.map(({ key }) => key).join(", ");
  return `(${columns}) in (${from}.(${keys})${rows})`;
}

function valueText(value: PresentValue, caller: string): string {
  if (value === caller) return "caller";
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return value instanceof Date ? value.toISOString() : String(value);
}
