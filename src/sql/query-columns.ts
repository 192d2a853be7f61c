import {
  AliasNode,
  ColumnNode,
  type Expression,
  ExpressionWrapper,
  IdentifierNode,
  type OperationNode,
  ParensNode,
  ReferenceNode,
  SelectAllNode,
  SelectQueryNode,
  TableNode,
} from "kysely";
import type { AnyQuery } from "./any-query.ts";
import type { TableName } from "./table-columns.ts";

/** The source of a field. */
export interface FieldSource {
  readonly expression: Expression<unknown>;
  /** The table column, or `null` if the field is computed. */
  readonly column: { readonly table: TableName; readonly name: string; readonly isOuter: boolean } | null;
}

/** An entry of the select clause. */
export interface SelectedField {
  readonly node: OperationNode;
  /** The entry without its alias. */
  readonly value: OperationNode;
  /** The name of the field; `undefined` for `*` and for raw SQL. */
  readonly name: string | undefined;
  /** For `*`, the source of the fields, if the query shows it. */
  readonly star: Star | null;
}
/** The table or the subquery that `*` takes its fields from. */
interface Star {
  readonly table: TableName | null;
  /** The fields of a subquery that names all of them, or `null`. */
  readonly fields: ReadonlySet<string> | null;
  readonly reference: (column: string) => OperationNode;
}

interface Source {
  readonly alias: string | undefined;
  /** `null` for a subquery. */
  readonly table: TableName | null;
  /** The fields of a subquery that names all of them, or `null`. */
  readonly fields: ReadonlySet<string> | null;
  /** Whether a join may omit its row, so that all of its columns may be null. */
  readonly isOuter: boolean;
}

/** The sources of a query and the names of its fields. */
export class QueryColumns {
  readonly #query: AnyQuery;
  readonly #node: SelectQueryNode;
  readonly #sources: readonly Source[];

  constructor(query: AnyQuery) {
    this.#query = query;
    this.#node = query.toOperationNode();
    this.#sources = sourcesOf(this.#node);
  }

  /** The first table of the query. */
  get mainTable(): TableName | null {
    return this.#sources[0]?.table ?? null;
  }

  /** The name by which columns refer to the first source. */
  get mainName(): string | undefined {
    const main = this.#sources[0];
    return main?.alias ?? main?.table?.table;
  }

  /** The entries of the select clause, in their order. */
  get selected(): readonly SelectedField[] {
    return (this.#node.selections ?? []).map(({ selection }) => ({
      node: selection,
      value: AliasNode.is(selection) ? selection.node : selection,
      name: fieldName(selection),
      star: this.#starOf(selection),
    }));
  }

  #starOf(node: OperationNode): Star | null {
    const isOfTable = ReferenceNode.is(node) && SelectAllNode.is(node.column);
    if (!isOfTable && !SelectAllNode.is(node)) return null;
    const source = this.#sourceNamed(isOfTable ? node.table?.table.identifier.name : undefined);
    // A table of WITH is not in the catalogue, or hides the one that is.
    if (source === undefined || this.#node.with !== undefined) return null;
    const { table, fields } = source;
    const owner = tableOf(source);
    return { table, fields, reference: (column) => ReferenceNode.create(ColumnNode.create(column), owner) };
  }

  find(field: string): FieldSource {
    const { name, reference: found } = this.#located(field);
    if (found !== undefined) return this.#sourceOf(found);
    for (const { selection } of this.#node.selections ?? []) {
      if (AliasNode.is(selection) && IdentifierNode.is(selection.alias) && selection.alias.name === name)
        return this.#sourceOf(selection.node);
      if (ReferenceNode.is(selection) && columnName(selection) === name) return this.#sourceOf(selection);
    }
    const main = this.#sources[0];
    const reference = ReferenceNode.create(ColumnNode.create(name), main === undefined ? undefined : tableOf(main));
    const column =
      main === undefined || main.table === null ? null : { table: main.table, name, isOuter: main.isOuter };
    return { expression: new ExpressionWrapper<any, any, unknown>(reference), column };
  }

  /**
   * Whether the query itself shows that the field does not exist: it is not selected, and the first source is a
   * subquery without it.
   */
  lacks(field: string): boolean {
    const fields = this.#sources[0]?.fields ?? null;
    if (fields === null) return false;
    const name = this.nameOf(field);
    return !fields.has(name) && !namedFields(this.#node).has(name);
  }

  #sourceOf(node: OperationNode): FieldSource {
    const name = ReferenceNode.is(node) ? columnName(node) : undefined;
    // A computed field may be raw SQL with any operators.
    if (name === undefined || !ReferenceNode.is(node))
      return { expression: new ExpressionWrapper<any, any, unknown>(ParensNode.create(node)), column: null };
    const expression = new ExpressionWrapper<any, any, unknown>(node);
    const source = this.#sourceNamed(node.table?.table.identifier.name);
    return {
      expression,
      column:
        source === undefined || source.table === null ? null : { table: source.table, name, isOuter: source.isOuter },
    };
  }

  /** The source that a column refers to, or the only one. */
  #sourceNamed(label: string | undefined): Source | undefined {
    if (label === undefined) return this.#sources.length === 1 ? this.#sources[0] : undefined;
    return this.#sources.find(({ alias, table }) => (alias ?? table?.table) === label);
  }

  /** The name in the database, because a plugin of the query may rename columns. */
  nameOf(field: string): string {
    return this.#located(field).name;
  }

  /** The name in the database, or the column itself if a plugin finds it. */
  #located(field: string): { readonly name: string; readonly reference?: ReferenceNode } {
    const probe = this.#query
      .clearSelect()
      .select(field as never)
      .toOperationNode();
    const selection = probe.selections?.[0]?.selection;
    if (selection === undefined || !ReferenceNode.is(selection)) return { name: field };
    const name = columnName(selection) ?? field;
    return selection.table === undefined ? { name } : { name, reference: selection };
  }
}

/** The table as columns refer to it. */
function tableOf({ alias, table }: Source): TableNode | undefined {
  if (alias !== undefined) return TableNode.create(alias);
  if (table === null) return undefined;
  return table.schema === undefined
    ? TableNode.create(table.table)
    : TableNode.createWithSchema(table.schema, table.table);
}

function sourcesOf(node: SelectQueryNode): readonly Source[] {
  const joins = node.joins ?? [];
  const isMainOuter = joins.some(({ joinType }) => /^(?:Right|Full)/.test(joinType));
  return [
    ...(node.from?.froms ?? []).map((from) => sourceOf(from, isMainOuter)),
    ...joins.map(({ joinType, table }) => sourceOf(table, !/^(?:Inner|Cross|Lateral)/.test(joinType))),
  ];
}

function sourceOf(node: OperationNode, isOuter: boolean): Source {
  const alias = AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : undefined;
  const inner = AliasNode.is(node) ? node.node : node;
  return {
    alias,
    table: TableNode.is(inner) ? tableName(inner) : null,
    fields: SelectQueryNode.is(inner) && isWhollyNamed(inner) ? namedFields(inner) : null,
    isOuter,
  };
}

/** Whether all fields of a query have explicit names: no `*` and no raw SQL. */
function isWhollyNamed({ selections = [] }: SelectQueryNode): boolean {
  return selections.length > 0 && selections.every(({ selection }) => fieldName(selection) !== undefined);
}

function namedFields({ selections = [] }: SelectQueryNode): ReadonlySet<string> {
  return new Set(selections.map(({ selection }) => fieldName(selection)).filter((name) => name !== undefined));
}

function fieldName(selection: OperationNode): string | undefined {
  if (AliasNode.is(selection)) return IdentifierNode.is(selection.alias) ? selection.alias.name : undefined;
  return ReferenceNode.is(selection) ? columnName(selection) : undefined;
}

function tableName({ table }: TableNode): TableName {
  return { schema: table.schema?.name, table: table.identifier.name };
}

/** The parts of its name, starting with the schema if there is one. */
export function tablePath(table: TableName | null): readonly string[] {
  return [table?.schema, table?.table].filter((part) => part !== undefined);
}

function columnName({ column }: ReferenceNode): string | undefined {
  return column.kind === "ColumnNode" ? column.column.name : undefined;
}
