import { Column, getTableColumns, getTableName, is, type SQLWrapper, Table } from "drizzle-orm";
import { type KyselyPlugin, type OperationNode, ReferenceNode, SelectionNode, SelectQueryNode } from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import type { ConditionValue } from "../pagination/conditions/condition.ts";
import type { QueryOrigin } from "../sql/queries/query-origin.ts";
import type { OpenQuery } from "./open-query.ts";
import { columnNode } from "./select-node.ts";
import type { RowField } from "./selected-fields.ts";

/**
 * The names by which strategies, filters and rules refer to the fields of a Drizzle query: the fields of its selection
 * that are not in a nested object, then the properties of its first table.
 */
export class FieldColumns implements QueryOrigin, KyselyPlugin {
  readonly label = "drizzleHandler";
  readonly key: string;
  readonly plugins: readonly KyselyPlugin[] = [this];
  readonly #query: OpenQuery;
  readonly #selected: ReadonlyMap<string, SQLWrapper>;
  readonly #table: Table | null;

  constructor(query: OpenQuery, fields: readonly RowField[]) {
    this.#query = query;
    this.#selected = new Map(fields.filter(({ isNested }) => !isNested).map(({ name, field }) => [name, field]));
    const { table } = query.config;
    this.#table = is(table, Table) ? table : null;
    this.key = JSON.stringify([
      this.label,
      Object.entries(this.#properties).map(([name, column]) => [name, column.name]),
    ]);
  }

  /** Throws `ConfigurationError` if the query has no such field. */
  check(name: string): void {
    const also = this.#table === null ? "" : ` or a property of the table ${getTableName(this.#table)}`;
    this.#require(name, `: use a field of its selection${also}`);
  }

  /** Throws `ConfigurationError` if the query lacks a field of the unique key. */
  checkUnique(name: string): void {
    this.#require(name, " to break ties: set uniqueKey to fields that identify a row");
  }

  #require(name: string, remedy: string): void {
    if (this.#fieldOf(name) !== undefined) return;
    throw new ConfigurationError(`${this.label}: the query`, `has no field ${name}${remedy}`);
  }

  readonly encode = (name: string, value: ConditionValue): ConditionValue => {
    const field = this.#fieldOf(name);
    return is(field, Column) ? encodedValue(field, value) : value;
  };

  /**
   * Replaces names by columns. A name is a reference without a table, and only in a selection: the other references of
   * the query come from Drizzle's columns.
   */
  transformQuery({ node }: Parameters<KyselyPlugin["transformQuery"]>[0]): ReturnType<KyselyPlugin["transformQuery"]> {
    if (!SelectQueryNode.is(node) || node.selections?.some(({ selection }) => isName(selection)) !== true) return node;
    const selections = node.selections.map((item) => {
      if (!isName(item.selection)) return item;
      const name = item.selection.column.column.name;
      this.check(name);
      const column = this.#selected.has(name) ? undefined : this.#properties[name];
      return column === undefined ? item : SelectionNode.create(columnNode(this.#query, column));
    });
    return { ...node, selections };
  }

  async transformResult({
    result,
  }: Parameters<KyselyPlugin["transformResult"]>[0]): ReturnType<KyselyPlugin["transformResult"]> {
    return result;
  }

  #fieldOf(name: string): SQLWrapper | undefined {
    return this.#selected.get(name) ?? this.#properties[name];
  }

  get #properties(): Readonly<Record<string, Column>> {
    return this.#table === null ? {} : getTableColumns(this.#table);
  }
}

type Name = ReferenceNode & { readonly column: { readonly kind: "ColumnNode" } };

function isName(node: OperationNode): node is Name {
  return ReferenceNode.is(node) && node.table === undefined && node.column.kind === "ColumnNode";
}

/**
 * Returns a value as the driver of a column needs it, such as a `Date` as text. A value of another type than the
 * column's, such as a `Date` for a column with the mode `"string"`, is passed to the driver as it is.
 */
function encodedValue(column: Column, value: ConditionValue): ConditionValue {
  if (value === null || !fits(column, value)) return value;
  const encoded: unknown = column.mapToDriverValue(value);
  return isPlain(encoded) ? encoded : value;
}

function fits({ dataType }: Column, value: ConditionValue): boolean {
  return dataType === (value instanceof Date ? "date" : typeof value) || dataType === "custom";
}

function isPlain(value: unknown): value is ConditionValue {
  return value instanceof Date || ["string", "number", "bigint", "boolean"].includes(typeof value);
}
