import { AndNode, type OperationNode, ParensNode, ValueNode } from "kysely";
import type { ConditionNode, ConditionValue, RangeOperator } from "../../pagination/conditions/condition.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { anyOfNodes, binary, isNull, sqlOf } from "./binary.ts";

type CompareNode = Extract<ConditionNode, { readonly kind: "compare" }>;

interface ComparedColumn {
  readonly dialect: SqlDialect;
  readonly column: OperationNode;
  readonly encode: (column: string, value: number | bigint | Date) => ConditionValue;
  readonly isInverted: boolean;
}

export const OPPOSITE = { "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;
const INCLUSIVE = { "<": "<=", "<=": "<=", ">": ">=", ">=": ">=" } as const;

/** Returns a comparison with a number or a time that decides as JavaScript does about the value that a row has there. */
export function rangeExpression(
  node: CompareNode,
  { dialect, column, encode, isInverted }: ComparedColumn,
): OperationNode {
  const operator = isInverted ? OPPOSITE[node.operator] : node.operator;
  const { value } = node;
  const isTime = value instanceof Date;
  const compared = isTime
    ? timeExpression(dialect, operator, value, column, (time) => encode(node.column, time))
    : binary(column, operator, numberNode(dialect, encode(node.column, value)));
  const isNumber = !isTime || typeof encode(node.column, value) === "number";
  const ordered = areOrdered(dialect, column, isNumber ? "numbers" : "times");
  if (!isInverted)
    return ordered.length === 0 ? compared : ParensNode.create([compared, ...ordered].reduce(AndNode.create));
  return anyOfNodes(compared, isNull(column), ...ordered.map((one) => sqlOf("not $", one)));
}

/** Returns conditions that are false for what has no order, such as a text. PostgreSQL rejects such a column instead. */
export function areOrdered(
  dialect: SqlDialect,
  column: OperationNode,
  what: "numbers" | "times" | "numbers or times",
): readonly OperationNode[] {
  switch (dialect) {
    case "postgres":
      // It subtracts nothing but nulls, and PostgreSQL rejects it for types that cannot be subtracted.
      return what === "numbers"
        ? []
        : [sqlOf("(case when $ is null then ($ - $) is null else true end)", column, column, column)];
    case "mysql":
      return [sqlOf("(charset($) = 'binary')", column)];
    case "sqlite": {
      const isNumber = sqlOf("(typeof($) in ('integer', 'real'))", column);
      const isTime = sqlOf(`(typeof($) = 'text' and $ glob '${ISO_TIME}')`, column, column);
      if (what === "numbers or times") return [anyOfNodes(isNumber, isTime)];
      return [what === "numbers" ? isNumber : isTime];
    }
  }
}

/** The text of `toISOString()`, which SQLite stores in place of a time. */
const ISO_TIME = "nnnn-nn-nnTnn:nn:nn.nnnZ".replaceAll("n", "[0-9]");

/**
 * PostgreSQL gives a parameter the type of the column, and rejects what does not fit, such as 1.5 for an integer. An index on a
 * column of any type of number can serve a bigint.
 */
function numberNode(dialect: SqlDialect, value: ConditionValue): OperationNode {
  if (typeof value === "string") return ValueNode.create(value);
  // Written as a number, a large double would lose its last digits.
  const whole =
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
  const isLarge = typeof whole === "bigint" && BigInt.asIntN(64, whole) !== whole;
  if (dialect === "sqlite") return ValueNode.create(isLarge ? Number(whole) : whole);
  if (dialect === "mysql") return ValueNode.create(whole);
  const type = isLarge || !Number.isInteger(Number(whole)) ? "numeric" : "bigint";
  return sqlOf(`cast($ as ${type})`, ValueNode.create(isLarge ? String(whole) : whole));
}

/**
 * A row holds the milliseconds of a time, and databases its microseconds, so that `<= t` is `< t + 1 ms`. A date in PostgreSQL
 * is midnight in a row, but there the time that it is compared with becomes a date.
 */
function timeExpression(
  dialect: SqlDialect,
  given: RangeOperator,
  value: Date,
  column: OperationNode,
  encode: (time: Date) => ConditionValue,
): OperationNode {
  const isShifted = given === "<=" || given === ">";
  const operator = given === "<" || given === "<=" ? "<" : ">=";
  const time = new Date(value.getTime() + (isShifted ? 1 : 0));
  const encoded = encode(time);
  const node = ValueNode.create(dialect === "sqlite" && encoded instanceof Date ? encoded.toISOString() : encoded);
  // A column of whole seconds has no value within one.
  if (typeof encoded === "number" && encoded === encode(new Date(time.getTime() - 1)))
    return binary(column, operator === "<" ? "<=" : ">", node);
  const compared = binary(column, operator, node);
  if (dialect !== "postgres" || isMidnight(encoded)) return compared;
  const isDate = sqlOf("pg_typeof($) = 'date'::regtype", column);
  const [strict, other] = operator === "<" ? (["<", isDate] as const) : ([">", sqlOf("not ($)", isDate)] as const);
  return ParensNode.create(
    AndNode.create(binary(column, INCLUSIVE[operator], node), anyOfNodes(binary(column, strict, node), other)),
  );
}

/** Whether a time is the beginning of a date: in the time zone of the process for a `Date`, which a driver writes in it. */
function isMidnight(time: ConditionValue): boolean {
  if (typeof time === "string") return /T00:00:00(?:\.0+)?Z$/.test(time);
  return time instanceof Date && time.getTime() === new Date(time).setHours(0, 0, 0, 0);
}
