import {
  AliasNode,
  ColumnNode,
  type Expression,
  ExpressionWrapper,
  IdentifierNode,
  QueryNode,
  type RawBuilder,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  sql,
  TableNode,
} from "kysely";
import type { ConditionNode, PresentValue } from "../pagination/condition.ts";
import type { SqlDialect } from "./sql-dialect.ts";

type ColumnOf = (column: string) => Expression<unknown>;

/**
 * Returns a condition as SQL that is true exactly where the condition is. `not` is applied to the single comparisons,
 * because `not (x = 1)` is neither true nor false where `x` is null.
 *
 * @param columnOf returns the column of the query that a name stands for
 */
export function conditionExpression(dialect: SqlDialect, node: ConditionNode, columnOf: ColumnOf): RawBuilder<boolean> {
  return compiled(node, { dialect, columnOf, depth: 0, isInverted: false });
}

interface Place {
  readonly dialect: SqlDialect;
  readonly columnOf: ColumnOf;
  /** How many related tables it is inside. */
  readonly depth: number;
  readonly isInverted: boolean;
}

function compiled(node: ConditionNode, place: Place): RawBuilder<boolean> {
  const { dialect, columnOf, isInverted } = place;
  switch (node.kind) {
    case "always":
    case "never":
      return (node.kind === "always") === isInverted ? sql`1 = 0` : sql`1 = 1`;
    case "not":
      return compiled(node.of, { ...place, isInverted: !isInverted });
    case "all":
    case "any": {
      const parts = node.of.map((part) => compiled(part, place));
      return sql`(${sql.join(parts, (node.kind === "all") === isInverted ? sql` or ` : sql` and `)})`;
    }
    case "null":
      return isInverted ? sql`${columnOf(node.column)} is not null` : sql`${columnOf(node.column)} is null`;
    case "equal": {
      const [column, value] = [columnOf(node.column), parameter(dialect, node.column, node.value)];
      return isInverted ? sql`(${column} <> ${value} or ${column} is null)` : sql`${column} = ${value}`;
    }
    case "in": {
      const column = columnOf(node.column);
      const values = node.values.map((value) => driverValue(dialect, node.column, value));
      return isInverted
        ? sql`(${column} ${list(dialect, values, true)} or ${column} is null)`
        : sql`${column} ${list(dialect, values, false)}`;
    }
    case "related":
      return isInverted ? sql`not exists ${relatedRows(node, place)}` : sql`exists ${relatedRows(node, place)}`;
  }
}

/** On PostgreSQL, the values are one array, so that statements for lists of different lengths have the same text. */
function list(dialect: SqlDialect, values: readonly unknown[], isInverted: boolean): RawBuilder<unknown> {
  if (dialect === "postgres") return isInverted ? sql`<> all(${sql.val(values)})` : sql`= any(${sql.val(values)})`;
  // Repeating the last value up to the next power of two leaves few different texts, each of which is prepared once.
  const length = 2 ** Math.ceil(Math.log2(values.length));
  const padded = Array.from({ length }, (_, index) => sql.val(values[Math.min(index, values.length - 1)]));
  return isInverted ? sql`not in (${sql.join(padded)})` : sql`in (${sql.join(padded)})`;
}

/** `exists` is never null, unlike `in` over a column that contains a null. */
function relatedRows(
  node: Extract<ConditionNode, { readonly kind: "related" }>,
  { dialect, columnOf, depth }: Place,
): Expression<unknown> {
  const alias = `~related_${"i".repeat(depth + 1)}`;
  const relatedColumn: ColumnOf = (column) =>
    new ExpressionWrapper<any, any, unknown>(ReferenceNode.create(ColumnNode.create(column), TableNode.create(alias)));
  const [name = "", schema] = node.from.split(".").toReversed();
  const table = schema === undefined ? TableNode.create(name) : TableNode.createWithSchema(schema, name);
  const matches = sql`${relatedColumn(node.key)} = ${columnOf(node.column)}`;
  const inside: Place = { dialect, columnOf: relatedColumn, depth: depth + 1, isInverted: false };
  const where = node.where.kind === "always" ? matches : sql`${matches} and ${compiled(node.where, inside)}`;
  const from = SelectQueryNode.createFrom([AliasNode.create(table, IdentifierNode.create(alias))]);
  const selected = SelectQueryNode.cloneWithSelections(from, [
    SelectionNode.create(sql.lit(1).toOperationNode() as never),
  ]);
  return new ExpressionWrapper<any, any, unknown>(QueryNode.cloneWithWhere(selected, where.toOperationNode()));
}

function parameter(dialect: SqlDialect, column: string, value: PresentValue): RawBuilder<unknown> {
  return sql.val(driverValue(dialect, column, value));
}

function driverValue(dialect: SqlDialect, column: string, value: PresentValue): unknown {
  if (dialect !== "sqlite") return value;
  if (value instanceof Date)
    throw new TypeError(
      `a condition compares ${column} with a Date, which SQLite does not have: use the text or number that the column holds`,
    );
  return typeof value === "boolean" ? Number(value) : value;
}
