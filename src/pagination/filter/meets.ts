import type { ConditionNode, PresentValue, RangeOperator } from "../conditions/condition.ts";

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
    case "columns": {
      const [one, other] = [valueOf(item, node.column), valueOf(item, node.other)];
      if (node.operator !== "=") return isOrdered(one, node.operator, other);
      return one === other || (!(typeof one === "string" && typeof other === "string") && orderOf(one, other) === 0);
    }
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
      throw new TypeError(`a list in memory has no table ${node.from} to look up rows in`);
  }
}

/** The value of a field. A field that an item does not have is null. */
function valueOf(item: unknown, column: string): unknown {
  return (item as Readonly<Record<string, unknown>> | null | undefined)?.[column] ?? null;
}

/** An id is text for clients, a boolean may be a number in a row, and a large number its text. */
function isSame(value: unknown, wanted: PresentValue): boolean {
  if (value === wanted) return true;
  if (typeof wanted === "string")
    return (typeof value === "number" || typeof value === "bigint") && String(value) === wanted;
  return orderOf(value, typeof wanted === "boolean" ? Number(wanted) : wanted) === 0;
}

function isOrdered(one: unknown, operator: RangeOperator, other: unknown): boolean {
  const order = orderOf(one, other);
  if (order === null) return false;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}

/** Which of two numbers or times is first, or `null` for anything else. A row may hold a time or its text. */
function orderOf(one: unknown, other: unknown): number | null {
  if (!(one instanceof Date || other instanceof Date)) return numericOrder(one, other);
  const order = timeOf(one) - timeOf(other);
  return Number.isNaN(order) ? null : order;
}

function timeOf(value: unknown): number {
  if (value instanceof Date) return value.getTime();
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

/**
 * Which of two numbers is less: negative, 0 or positive, and `null` where one of them is not a number. Drivers return a number that does not
 * fit a double as its text, which is compared exactly.
 */
function numericOrder(one: unknown, other: unknown): number | null {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  if (a === null || b === null) return null;
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [a, b].map((decimal) => decimal.digits * 10n ** BigInt(scale - decimal.scale)) as [
    bigint,
    bigint,
  ];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A number without its decimal point, and how many of the digits follow it. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const DECIMAL = /^(-?(?:0|[1-9]\d*))(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

function decimalOf(value: unknown): Decimal | null {
  if (!["number", "bigint", "string"].includes(typeof value)) return null;
  const [, whole, fraction = "", exponent = "0"] = DECIMAL.exec(String(value)) ?? [];
  if (whole === undefined) return null;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}
