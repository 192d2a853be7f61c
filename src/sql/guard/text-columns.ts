import type { ConditionNode } from "../../pagination/conditions/condition.ts";

/** The columns that a condition compares and that may hold text, with their tables: `"memberships.user_id"`. */
export function textColumns(node: ConditionNode, table: string): readonly string[] {
  const own = (column: string): string => `${table}.${column}`;
  switch (node.kind) {
    case "always":
    case "never":
    case "null":
    case "compare":
      return [];
    case "equal":
      return typeof node.value === "string" ? [own(node.column)] : [];
    case "in":
      return typeof node.values[0] === "string" ? [own(node.column)] : [];
    case "prefix":
      return [own(node.column)];
    case "columns":
      return [own(node.column), own(node.other)];
    case "related":
      return [
        ...node.on.flatMap(({ column, key }) => [own(column), `${node.from}.${key}`]),
        ...textColumns(node.where, node.from),
      ];
    case "all":
    case "any":
      return node.of.flatMap((part) => textColumns(part, table));
    case "not":
      return textColumns(node.of, table);
  }
}

/** The columns of a row that a condition compares with values, or looks up in another table. */
export function ownColumns(node: ConditionNode): readonly string[] {
  switch (node.kind) {
    case "equal":
    case "in":
      return [node.column];
    case "related":
      return node.on.map(({ column }) => column);
    case "all":
    case "any":
      return node.of.flatMap(ownColumns);
    case "always":
    case "never":
    case "null":
    case "compare":
    case "columns":
    case "prefix":
    case "not":
      return [];
  }
}
