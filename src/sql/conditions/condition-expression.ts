import {
  AliasNode,
  AndNode,
  ColumnNode,
  IdentifierNode,
  type OperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  QueryNode,
  ReferenceNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
  UnaryOperationNode,
  ValueNode,
} from "kysely";
import type { ConditionNode, ConditionValue, PresentValue } from "../../pagination/conditions/condition.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { binary, isNull, NULL, sqlOf } from "./binary.ts";
import { columnsExpression } from "./columns-expression.ts";
import { comparedValues } from "./compared-values.ts";
import { exactMatch, exactText, joinedTexts, rowOf } from "./exact-match.ts";
import { prefixExpression } from "./prefix-expression.ts";
import { rangeExpression } from "./range-expression.ts";

export type ColumnOf = (column: string) => OperationNode;
type Encode = (column: string, value: PresentValue) => ConditionValue;

/**
 * Returns a condition as SQL that is true exactly where the condition is. `not` is applied to the single comparisons,
 * because `not (x = 1)` is neither true nor false where `x` is null.
 *
 * @param columnOf returns the column of the query that a name stands for
 * @param encode returns a value as the column stores it
 * @param schema the schema of related tables without one
 * @param excluded a row that must not meet the condition by itself
 * @param hidden the tables that WITH defines, in lower case; throws `HiddenTable` for a related table of the same name
 */
export function conditionExpression(
  dialect: SqlDialect,
  node: ConditionNode,
  { columnOf, encode, ...names }: Omit<Place, "dialect" | "depth" | "isInverted">,
): OperationNode {
  return compiled(node, { ...names, dialect, columnOf, encode, depth: 0, isInverted: false });
}

/** The columns of a table by its name in the query. */
export function tableColumn(name: string): ColumnOf {
  const table = TableNode.create(name);
  return (column) => ReferenceNode.create(ColumnNode.create(column), table);
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
  if (node.kind === "columns") return [node.column, node.other];
  if (node.kind === "related") return node.on.map(({ column }) => column);
  if ("column" in node) return [node.column];
  if (!("of" in node)) return [];
  return Array.isArray(node.of) ? node.of.flatMap(comparedFields) : comparedFields(node.of as ConditionNode);
}

/** Returns the query for the texts of the only key of a related table: by its own collation, and exactly. */
export function relatedTexts(dialect: SqlDialect, node: RelatedNode): OperationNode {
  const place: Place = {
    dialect,
    columnOf: tableColumn(""),
    encode: asGiven,
    depth: 0,
    hidden: new Set(),
    isInverted: false,
  };
  return relatedRows(node, place, (keys) => keys.flatMap((key) => [sqlOf("$::text", key), exactText(dialect, key)]));
}

export type RelatedNode = Extract<ConditionNode, { readonly kind: "related" }>;

interface Place {
  readonly dialect: SqlDialect;
  readonly columnOf: ColumnOf;
  readonly encode: Encode;
  /** How many related tables it is inside. */
  readonly depth: number;
  /** The tables that WITH defines, which hide related tables of the same name. */
  readonly hidden: ReadonlySet<string>;
  /** The schema of related tables without one. WITH does not hide a table that is named with its schema. */
  readonly schema?: string;
  /** A row of a table that no related row may be, by its rowid in SQLite. */
  readonly excluded?: { readonly table: string; readonly row: OperationNode };
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
    case "compare":
      return rangeExpression(node, { dialect, column: columnOf(node.column), encode, isInverted });
    case "columns":
      return columnsExpression(dialect, node.operator, columnOf(node.column), columnOf(node.other), isInverted);
    case "prefix":
      return prefixExpression(dialect, columnOf(node.column), node, isInverted);
    case "related": {
      if (node.on.length === 0) {
        const rows = relatedRows(node, place, () => [ONE]);
        return UnaryOperationNode.create(OperatorNode.create(isInverted ? "not exists" : "exists"), rows);
      }
      // The columns stay outside the subquery: inside, a name in the author's SQL could belong to the related table.
      const columns = node.on.map(({ column }) => columnOf(column));
      const [looked, rows] = lookup(node, columns, place);
      const matches = binary(looked, isInverted ? "not in" : "in", rows);
      return isInverted ? ParensNode.create([...columns.map(isNull), matches].reduce(OrNode.create)) : matches;
    }
  }
}

const ONE = ValueNode.createImmediate(1);
const ZERO = ValueNode.createImmediate(0);

/**
 * Returns the values that are looked up, and the rows of the related table that may have them. A column is compared in its own
 * type as well, so that an index can serve it. A computed value has none, and MariaDB accepts no subquery in a row: several
 * values are then compared as one text.
 */
function lookup(node: RelatedNode, columns: readonly OperationNode[], place: Place): [OperationNode, OperationNode] {
  const exactly = (column: OperationNode): OperationNode => exactText(place.dialect, column);
  const inOwnType = columns.map((column) => ReferenceNode.is(column));
  const isOneText = place.dialect === "mysql" && columns.length > 1 && inOwnType.includes(false);
  const tuple = (values: readonly OperationNode[]): readonly OperationNode[] =>
    isOneText
      ? [joinedTexts(values.map(exactly))]
      : values.flatMap((value, index) => (inOwnType[index] === true ? [value, exactly(value)] : [exactly(value)]));
  const looked = tuple(columns);
  const [only] = looked;
  return [looked.length === 1 && only !== undefined ? only : rowOf(looked), relatedRows(node, place, tuple)];
}

/** The beginning of the aliases of related tables in conditions. */
export const RELATED = "~related_";

/** Returns values of a related row, without null, which would make `not in` neither true nor false. */
function relatedRows(
  node: RelatedNode,
  place: Place,
  valuesOf: (keys: readonly OperationNode[]) => readonly OperationNode[],
): OperationNode {
  const { depth, hidden, excluded } = place;
  const alias = `${RELATED}${"i".repeat(depth + 1)}`;
  const relatedColumn = tableColumn(alias);
  const [name = "", schema = place.schema] = node.from.split(".").toReversed();
  if (schema === undefined && hidden.has(name.toLowerCase())) throw new HiddenTable(name);
  const table = schema === undefined ? TableNode.create(name) : TableNode.createWithSchema(schema, name);
  const keys = node.on.map(({ key }) => relatedColumn(key));
  const inside: Place = {
    ...place,
    columnOf: relatedColumn,
    encode: asGiven,
    depth: depth + 1,
    isInverted: false,
  };
  const conditions = keys.map((key) => binary(key, "is not", NULL));
  if (excluded !== undefined && excluded.table.toLowerCase() === name.toLowerCase())
    conditions.push(binary(relatedColumn("rowid"), "<>", excluded.row));
  if (node.where.kind !== "always") conditions.push(compiled(node.where, inside));
  const rows = SelectQueryNode.createFrom([AliasNode.create(table, IdentifierNode.create(alias))]);
  const values = valuesOf(keys).map((value) => SelectionNode.create(value as never));
  const selected = SelectQueryNode.cloneWithSelections(rows, values);
  if (conditions.length === 0) return selected;
  return QueryNode.cloneWithWhere(selected, conditions.reduce(AndNode.create));
}

/** The columns of another table are only known by name. */
const asGiven: Encode = (_column, value) => value;

function driverValue(dialect: SqlDialect, column: string, value: ConditionValue): unknown {
  if (dialect !== "sqlite") return value;
  if (value instanceof Date)
    throw new TypeError(
      `a condition compares ${column} with a Date, which SQLite does not have: use the text or number that the column holds`,
    );
  return typeof value === "boolean" ? Number(value) : value;
}
