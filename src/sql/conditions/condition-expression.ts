import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  FunctionNode,
  IdentifierNode,
  type OperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  PrimitiveValueListNode,
  QueryNode,
  RawNode,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  UnaryOperationNode,
  ValueNode,
} from "kysely";
import type { ConditionNode, ConditionValue, PresentValue } from "../../pagination/condition.ts";
import type { SqlDialect } from "../sql-dialect.ts";
import { prefixBounds, prefixPattern } from "./prefix-pattern.ts";

type ColumnOf = (column: string) => OperationNode;
type Encode = (column: string, value: PresentValue) => ConditionValue;

/**
 * Returns a condition as SQL that is true exactly where the condition is. `not` is applied to the single comparisons,
 * because `not (x = 1)` is neither true nor false where `x` is null.
 *
 * @param columnOf returns the column of the query that a name stands for
 * @param encode returns a value as the column stores it
 */
export function conditionExpression(
  dialect: SqlDialect,
  node: ConditionNode,
  columnOf: ColumnOf,
  encode: Encode,
): OperationNode {
  return compiled(node, { dialect, columnOf, encode, depth: 0, isInverted: false });
}

interface Place {
  readonly dialect: SqlDialect;
  readonly columnOf: ColumnOf;
  readonly encode: Encode;
  /** How many related tables it is inside. */
  readonly depth: number;
  readonly isInverted: boolean;
}

function compiled(node: ConditionNode, place: Place): OperationNode {
  const { dialect, columnOf, encode, isInverted } = place;
  switch (node.kind) {
    case "always":
    case "never":
      return binary(ONE, "=", (node.kind === "always") === isInverted ? ZERO : ONE);
    case "not":
      return compiled(node.of, { ...place, isInverted: !isInverted });
    case "all":
    case "any": {
      const join = (node.kind === "all") === isInverted ? OrNode.create : AndNode.create;
      return ParensNode.create(node.of.map((part) => compiled(part, place)).reduce((left, right) => join(left, right)));
    }
    case "null":
      return binary(columnOf(node.column), isInverted ? "is not" : "is", NULL);
    case "equal": {
      const value = ValueNode.create(driverValue(dialect, node.column, encode(node.column, node.value)));
      return isInverted ? orNull(columnOf(node.column), "<>", value) : binary(columnOf(node.column), "=", value);
    }
    case "in": {
      const values = node.values.map((value) => driverValue(dialect, node.column, encode(node.column, value)));
      const [operator, list] = listed(dialect, values, isInverted);
      return isInverted ? orNull(columnOf(node.column), operator, list) : binary(columnOf(node.column), operator, list);
    }
    case "compare": {
      const value = ValueNode.create(comparedValue(dialect, encode(node.column, node.value)));
      const column = columnOf(node.column);
      return isInverted ? orNull(column, OPPOSITE[node.operator], value) : binary(column, node.operator, value);
    }
    case "prefix": {
      const column = columnOf(node.column);
      const [operator, pattern] = prefixPattern(dialect, node.value);
      if (isInverted) return orNull(column, `not ${operator}` as Operator, pattern);
      const starts = binary(column, operator, pattern);
      if (dialect !== "mysql") return starts;
      const among = RawNode.create(
        ["", " between ", " and ", " and concat(", ") like ", ""],
        [column, ...prefixBounds(node.value).map(ValueNode.create), column, pattern],
      );
      return ParensNode.create(OrNode.create(starts, among));
    }
    case "related":
      return UnaryOperationNode.create(
        OperatorNode.create(isInverted ? "not exists" : "exists"),
        relatedRows(node, place),
      );
  }
}

type Operator = Parameters<typeof OperatorNode.create>[0];

function binary(left: OperationNode, operator: Operator, right: OperationNode): OperationNode {
  return BinaryOperationNode.create(left, OperatorNode.create(operator), right);
}

function orNull(column: OperationNode, operator: Operator, right: OperationNode): OperationNode {
  return ParensNode.create(OrNode.create(binary(column, operator, right), binary(column, "is", NULL)));
}

const NULL = ValueNode.createImmediate(null);
const ONE = ValueNode.createImmediate(1);
const ZERO = ValueNode.createImmediate(0);

/** On PostgreSQL, the values are one array, so that statements for lists of different lengths have the same text. */
function listed(dialect: SqlDialect, values: readonly unknown[], isInverted: boolean): [Operator, OperationNode] {
  if (dialect === "postgres")
    return [isInverted ? "<>" : "=", FunctionNode.create(isInverted ? "all" : "any", [ValueNode.create(values)])];
  // Repeating the last value up to the next power of two leaves few different texts, each of which is prepared once.
  const length = 2 ** Math.ceil(Math.log2(values.length));
  const padded = Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)]);
  return [isInverted ? "not in" : "in", PrimitiveValueListNode.create(padded)];
}

const OPPOSITE = { "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;

/** `exists` is never null, unlike `in` over a column that contains a null. */
function relatedRows(
  node: Extract<ConditionNode, { readonly kind: "related" }>,
  { dialect, columnOf, depth }: Place,
): OperationNode {
  const alias = `~related_${"i".repeat(depth + 1)}`;
  const ofAlias = TableNode.create(alias);
  const relatedColumn: ColumnOf = (column) => ReferenceNode.create(ColumnNode.create(column), ofAlias);
  const [name = "", schema] = node.from.split(".").toReversed();
  const table = schema === undefined ? TableNode.create(name) : TableNode.createWithSchema(schema, name);
  const matches = binary(relatedColumn(node.key), "=", columnOf(node.column));
  const inside: Place = { dialect, columnOf: relatedColumn, encode: asGiven, depth: depth + 1, isInverted: false };
  const where = node.where.kind === "always" ? matches : AndNode.create(matches, compiled(node.where, inside));
  const rows = SelectQueryNode.createFrom([AliasNode.create(table, IdentifierNode.create(alias))]);
  const selected = SelectQueryNode.cloneWithSelections(rows, [SelectionNode.create(ONE as never)]);
  return QueryNode.cloneWithWhere(selected, where);
}

/** The columns of another table are only known by name. */
const asGiven: Encode = (_column, value) => value;

/** Only filters compare. In SQLite, a filter of the type date needs a column with the text of `toISOString()`. */
function comparedValue(dialect: SqlDialect, value: ConditionValue): unknown {
  return dialect === "sqlite" && value instanceof Date ? value.toISOString() : value;
}

function driverValue(dialect: SqlDialect, column: string, value: ConditionValue): unknown {
  if (dialect !== "sqlite") return value;
  if (value instanceof Date)
    throw new TypeError(
      `a condition compares ${column} with a Date, which SQLite does not have: use the text or number that the column holds`,
    );
  return typeof value === "boolean" ? Number(value) : value;
}
