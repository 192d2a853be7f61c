import type { Condition, ConditionValue } from "portico";
import type { ConditionNode } from "../../src/pagination/conditions/condition.ts";

type Row = Readonly<Record<string, ConditionValue>>;
type Tables = Readonly<Record<string, readonly Row[]>>;

/** Evaluates a condition in JavaScript, to compare it with a database. */
export function meets(condition: Condition, row: Row, tables: Tables): boolean {
  return isTrue(condition["~condition"], row, tables);
}

function isTrue(node: ConditionNode, row: Row, tables: Tables): boolean {
  switch (node.kind) {
    case "always":
    case "never":
      return node.kind === "always";
    case "null":
      return row[node.column] === null;
    case "equal":
      return row[node.column] === node.value;
    case "in":
      return node.values.some((value) => value === row[node.column]);
    case "compare": {
      const value = row[node.column];
      if (value === null || value === undefined) return false;
      if (node.operator === "<") return value < node.value;
      if (node.operator === "<=") return value <= node.value;
      return node.operator === ">" ? value > node.value : value >= node.value;
    }
    case "columns": {
      const [one, other] = [row[node.column] ?? null, row[node.other] ?? null];
      const { column, operator } = node;
      if (operator === "=") return one === other;
      return other !== null && isTrue({ kind: "compare", column, operator, value: other as number }, row, tables);
    }
    case "prefix":
      return String(row[node.column] ?? "").startsWith(node.value);
    case "related": {
      const others = tables[node.from] ?? [];
      const isJoined = (other: Row): boolean =>
        node.on.every(({ column, key }) => (row[column] ?? null) !== null && other[key] === row[column]);
      return others.some((other) => isJoined(other) && isTrue(node.where, other, tables));
    }
    case "all":
      return node.of.every((part) => isTrue(part, row, tables));
    case "any":
      return node.of.some((part) => isTrue(part, row, tables));
    case "not":
      return !isTrue(node.of, row, tables);
  }
}
