import { AndNode, BinaryOperationNode, type OperationNode, OperatorNode, ParensNode, ReferenceNode } from "kysely";
import type { Order } from "../../pagination/keys/order.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { isNullLastByDefault, type SqlDialect } from "../statements/sql-dialect.ts";
import { QueryColumns, tablePath } from "./query-columns.ts";

/** The parts of a query that an index has to serve. */
export interface PlanNeeds {
  /** The first table; `null` for a subquery. */
  readonly table: string | null;
  /** The name by which a plan refers to it. */
  readonly alias: string | undefined;
  /** The columns of the table that the query compares with one value. */
  readonly equal: readonly string[];
  /**
   * The columns of the order; `null` if one of them is computed or belongs to another table. The place of nulls is only
   * there if the statement names it.
   */
  readonly order: Order | null;
  /** The schema and the name of the table. */
  readonly path: readonly string[];
}

/** @param order the fields of the order; `null` in it stands for an expression */
export function planNeeds(query: AnyQuery, order: readonly (Order[number] | null)[]): PlanNeeds {
  const columns = new QueryColumns(query);
  const { mainTable, mainName } = columns;
  const found = order.map((entry): Order[number] | null => {
    const column = entry === null ? null : columns.find(entry[0]).column;
    return column === null || entry === null || column.table.table !== mainTable?.table
      ? null
      : ([column.name, ...entry.slice(1)] as unknown as Order[number]);
  });
  const where = query.toOperationNode().where?.where;
  return {
    table: mainTable?.table ?? null,
    alias: mainName,
    equal: where === undefined ? [] : [...new Set(equalColumns(where, mainName))],
    order: found.every((entry) => entry !== null) ? found : null,
    path: tablePath(mainTable),
  };
}

/** The columns that the condition requires to equal a value. */
function equalColumns(node: OperationNode, main: string | undefined): readonly string[] {
  if (ParensNode.is(node)) return equalColumns(node.node, main);
  if (AndNode.is(node)) return [...equalColumns(node.left, main), ...equalColumns(node.right, main)];
  if (!BinaryOperationNode.is(node) || !OperatorNode.is(node.operator) || node.operator.operator !== "=") return [];
  const { leftOperand, rightOperand } = node;
  if (!ReferenceNode.is(leftOperand) || ReferenceNode.is(rightOperand)) return [];
  const label = leftOperand.table?.table.identifier.name;
  if (label !== undefined && label !== main) return [];
  return leftOperand.column.kind === "ColumnNode" ? [leftOperand.column.column.name] : [];
}

/** Returns the statement that creates an index for the needs of a query; `null` if one index cannot serve them. */
export function helpfulIndex(dialect: SqlDialect, { path, equal, order }: PlanNeeds): string | null {
  if (path.length === 0 || order === null) return null;
  const rest = order.filter(([column]) => !equal.includes(column));
  // Only PostgreSQL has indexes with a place for nulls.
  const placeOf = ([, way, nulls]: Order[number]): string | undefined =>
    dialect === "postgres" && nulls !== undefined && (nulls === "nulls last") !== isNullLastByDefault(dialect, way)
      ? nulls
      : undefined;
  // An index can be read from both ends, and the usual direction is shorter, unless nulls have a place in it.
  const usual = rest.some((entry) => placeOf(entry) !== undefined) ? "asc" : rest[0]?.[1];
  const partOf = (entry: Order[number]): string => {
    const [column, way] = entry;
    return [quoted(dialect, column), ...(way === usual ? [] : ["desc"]), placeOf(entry)?.toUpperCase() ?? ""]
      .join(" ")
      .trim();
  };
  const parts = [...equal.map((column) => quoted(dialect, column)), ...rest.map(partOf)];
  const name = [path.at(-1), ...equal, ...rest.map(([column]) => column)].join("_");
  const columns = parts.join(", ");
  const table = path.map((part) => quoted(dialect, part)).join(".");
  // Only PostgreSQL chooses a name.
  return `CREATE INDEX ${dialect === "postgres" ? "" : `${quoted(dialect, name)} `}ON ${table} (${columns})`;
}

/** Every name is quoted, because each database reserves other words, such as `user` and `order`. */
function quoted(dialect: SqlDialect, name: string): string {
  const mark = dialect === "mysql" ? "`" : '"';
  return mark + name.replaceAll(mark, mark + mark) + mark;
}
