import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  IdentifierNode,
  type OperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  QueryNode,
  RawNode,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  ValueNode,
} from "kysely";
import type { ConditionNode, ConditionValue, PresentValue } from "../../pagination/condition.ts";
import type { SqlDialect } from "../sql-dialect.ts";
import { comparedValues, type Operator } from "./compared-values.ts";
import { exactMatch, exactPair, exactText } from "./exact-match.ts";
import { prefixBounds, prefixPattern } from "./prefix-pattern.ts";

type ColumnOf = (column: string) => OperationNode;
type Encode = (column: string, value: PresentValue) => ConditionValue;

/**
 * Returns a condition as SQL that is true exactly where the condition is. `not` is applied to the single comparisons,
 * because `not (x = 1)` is neither true nor false where `x` is null.
 *
 * @param columnOf returns the column of the query that a name stands for
 * @param encode returns a value as the column stores it
 * @param hidden the tables that WITH defines, in lower case; throws `HiddenTable` for a related table of the same name
 */
export function conditionExpression(
  dialect: SqlDialect,
  node: ConditionNode,
  { columnOf, encode, hidden }: Pick<Place, "columnOf" | "encode" | "hidden">,
): OperationNode {
  return compiled(node, { dialect, columnOf, encode, hidden, depth: 0, isInverted: false });
}

/** A related table that a table of WITH hides. */
export class HiddenTable extends Error {
  readonly table: string;
  constructor(table: string) {
    super(`WITH hides the table ${table}`);
    this.table = table;
  }
}

/** The fields that a condition compares, without those of related tables. */
export function comparedFields(node: ConditionNode): readonly string[] {
  if ("column" in node) return [node.column];
  if (!("of" in node)) return [];
  return Array.isArray(node.of) ? node.of.flatMap(comparedFields) : comparedFields(node.of as ConditionNode);
}

interface Place {
  readonly dialect: SqlDialect;
  readonly columnOf: ColumnOf;
  readonly encode: Encode;
  /** How many related tables it is inside. */
  readonly depth: number;
  /** The tables that WITH defines, which hide related tables of the same name. */
  readonly hidden: ReadonlySet<string>;
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
    case "equal":
    case "in": {
      const given = node.kind === "equal" ? [node.value] : node.values;
      const values = given.map((value) => driverValue(dialect, node.column, encode(node.column, value)));
      const column = columnOf(node.column);
      const matches = binary(column, ...comparedValues(dialect, values, isInverted));
      const exact =
        node.isLoose === true || given[0] instanceof Date ? null : exactMatch(dialect, column, values, isInverted);
      if (isInverted)
        return ParensNode.create([...(exact === null ? [] : [exact]), isNull(column)].reduce(OrNode.create, matches));
      return exact === null ? matches : ParensNode.create(AndNode.create(matches, exact));
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
    case "related": {
      const column = columnOf(node.column);
      // The column stays outside the subquery: inside, a name in the author's SQL could belong to the related table.
      const matches = binary(exactPair(dialect, column), isInverted ? "not in" : "in", relatedRows(node, place));
      return isInverted ? ParensNode.create(OrNode.create(isNull(column), matches)) : matches;
    }
  }
}

function binary(left: OperationNode, operator: Operator, right: OperationNode): OperationNode {
  return BinaryOperationNode.create(left, OperatorNode.create(operator), right);
}

function orNull(column: OperationNode, operator: Operator, right: OperationNode): OperationNode {
  return ParensNode.create(OrNode.create(binary(column, operator, right), isNull(column)));
}

function isNull(column: OperationNode): OperationNode {
  return binary(column, "is", NULL);
}

const NULL = ValueNode.createImmediate(null);
const ONE = ValueNode.createImmediate(1);
const ZERO = ValueNode.createImmediate(0);

const OPPOSITE = { "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;

/** Returns the values of a related column, without null, which would make `not in` neither true nor false. */
function relatedRows(
  node: Extract<ConditionNode, { readonly kind: "related" }>,
  { dialect, depth, hidden }: Place,
): OperationNode {
  const alias = `~related_${"i".repeat(depth + 1)}`;
  const ofAlias = TableNode.create(alias);
  const relatedColumn: ColumnOf = (column) => ReferenceNode.create(ColumnNode.create(column), ofAlias);
  const [name = "", schema] = node.from.split(".").toReversed();
  if (schema === undefined && hidden.has(name.toLowerCase())) throw new HiddenTable(name);
  const table = schema === undefined ? TableNode.create(name) : TableNode.createWithSchema(schema, name);
  const key = relatedColumn(node.key);
  const present = binary(key, "is not", NULL);
  const inside: Place = {
    dialect,
    columnOf: relatedColumn,
    encode: asGiven,
    depth: depth + 1,
    hidden,
    isInverted: false,
  };
  const where = node.where.kind === "always" ? present : AndNode.create(present, compiled(node.where, inside));
  const rows = SelectQueryNode.createFrom([AliasNode.create(table, IdentifierNode.create(alias))]);
  const values = [key, exactText(dialect, key)].map((value) => SelectionNode.create(value as never));
  return QueryNode.cloneWithWhere(SelectQueryNode.cloneWithSelections(rows, values), where);
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
