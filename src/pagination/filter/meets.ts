import type { ConditionNode, PresentValue } from "../condition.ts";

/** Whether an item in memory meets a condition. Text is compared exactly, as databases do with a binary collation. */
export function meets(node: ConditionNode, item: unknown): boolean {
  switch (node.kind) {
    case "always":
    case "never":
      return node.kind === "always";
    case "null":
      return valueOf(item, node.column) === null;
    case "equal":
      return isSame(valueOf(item, node.column), node.value);
    case "in": {
      const value = valueOf(item, node.column);
      return node.values.some((one) => isSame(value, one));
    }
    case "compare":
      return isOrdered(valueOf(item, node.column), node.operator, node.value);
    case "prefix": {
      const value = valueOf(item, node.column);
      return typeof value === "string" && value.startsWith(node.value);
    }
    case "all":
      return node.of.every((part) => meets(part, item));
    case "any":
      return node.of.some((part) => meets(part, item));
    case "not":
      return !meets(node.of, item);
    case "related":
      throw new TypeError(`a list in memory cannot look up ${node.column} in the table ${node.from}`);
  }
}

/** The value of a field. A field that an item does not have is null. */
function valueOf(item: unknown, column: string): unknown {
  return (item as Readonly<Record<string, unknown>> | null | undefined)?.[column] ?? null;
}

/** An id is text for clients, and a boolean may be a number in a row. */
function isSame(value: unknown, wanted: PresentValue): boolean {
  if (value === null) return false;
  if (typeof value === "number" || typeof value === "bigint")
    return typeof wanted === "string" ? String(value) === wanted : Number(value) === Number(wanted);
  return value === wanted;
}

function isOrdered(
  value: unknown,
  operator: (ConditionNode & { kind: "compare" })["operator"],
  wanted: number | bigint | Date,
): boolean {
  const [a, b] = wanted instanceof Date ? [timeOf(value), wanted.getTime()] : [value, wanted];
  if (typeof a !== "number" && typeof a !== "bigint") return false;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

/** A row may hold a date or its text. */
function timeOf(value: unknown): number | null {
  if (value instanceof Date) return value.getTime();
  return typeof value === "string" ? Date.parse(value) : null;
}
