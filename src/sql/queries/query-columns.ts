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
import { ConfigurationError } from "../../core/configuration-error.ts";
import { filteredTable } from "../guard/placed.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import type { TableName } from "./table-columns.ts";

/** The source of a field. */
export interface FieldSource {
  readonly expression: Expression<unknown>;
  /** The table column, or `null` if the field is computed. */
  readonly column: { readonly table: TableName; readonly name: string; readonly isOuter: boolean } | null;
}

/** The columns of a table in the catalogue; `undefined` if they are not known. */
export type KnownColumns = (table: TableName) => ReadonlySet<string> | undefined;
const NOTHING_KNOWN: KnownColumns = () => undefined;

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
  /** Whether WITH defines it, so that it is not in the catalogue, or hides the one that is. */
  readonly isDefined: boolean;
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
    if (source === undefined) return null;
    const { fields } = source;
    const table = source.isDefined ? null : source.table;
    const owner = tableOf(source);
    return { table, fields, reference: (column) => ReferenceNode.create(ColumnNode.create(column), owner) };
  }

  /**
   * Returns what a row has as a field: the entry of the select clause with its name, or a column of the table whose `*`
   * contains it. An entry replaces a column of `*` before it. A field that is not selected is a column of the first table.
   *
   * Returns `"unknown"` if a `*` may contain it whose columns are not known, and `"ambiguous"` if several entries have its
   * name.
   *
   * @param known returns the columns of a table in the catalogue, as far as they have been read
   */
  locate(field: string, known: KnownColumns = NOTHING_KNOWN): FieldSource | "unknown" | "ambiguous" {
    const { name, reference } = this.#located(field);
    if (reference !== undefined) return this.#sourceOf(reference);
    const [main] = this.#sources;
    let named: FieldSource | "ambiguous" | undefined;
    let starred: FieldSource | "ambiguous" | undefined;
    let unknown: readonly (Source | null)[] = [];
    for (const { selection } of this.#node.selections ?? []) {
      if (fieldName(selection) === name) {
        named =
          named === undefined ? this.#sourceOf(AliasNode.is(selection) ? selection.node : selection) : "ambiguous";
        starred = undefined;
        unknown = [];
      }
      for (const source of this.#starSources(selection)) {
        const isHere = hasColumn(source, name, known);
        if (source === null || isHere === undefined) unknown = [...unknown, source];
        else if (isHere) starred = starred === undefined ? this.#columnOf(source, name) : "ambiguous";
      }
    }
    const found = named === undefined ? starred : starred === undefined ? named : "ambiguous";
    // A column of the first table is the same one whether `*` contains it or it is not selected.
    const isMain = found === undefined && unknown.every((source) => source === main);
    return unknown.length > 0 && !isMain ? "unknown" : (found ?? this.#columnOf(main, name));
  }

  /** Returns the same without the catalogue: where that is needed, a column of the first table. */
  find(field: string): FieldSource {
    const found = this.locate(field);
    return typeof found === "string" ? this.#columnOf(this.#sources[0], this.nameOf(field)) : found;
  }

  /** The tables in the catalogue whose columns `*` selects. */
  get starTables(): readonly TableName[] {
    const sources = (this.#node.selections ?? []).flatMap(({ selection }) => this.#starSources(selection));
    return sources.flatMap((source) =>
      source === null || source.table === null || source.isDefined ? [] : [source.table],
    );
  }

  /** The sources whose columns an entry selects by `*`. It is `null` for raw SQL without a name. */
  #starSources(selection: OperationNode): readonly (Source | null)[] {
    if (SelectAllNode.is(selection)) return this.#sources;
    if (ReferenceNode.is(selection) && SelectAllNode.is(selection.column))
      return [this.#sourceNamed(selection.table?.table.identifier.name) ?? null];
    return fieldName(selection) === undefined ? [null] : [];
  }

  #columnOf(source: Source | undefined, name: string): FieldSource {
    const reference = ReferenceNode.create(ColumnNode.create(name), source === undefined ? undefined : tableOf(source));
    return { expression: new ExpressionWrapper<any, any, unknown>(reference), column: catalogued(source, name) };
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
    const source = this.#sourceNamed(node.table?.table.identifier.name);
    if (node.table === undefined && source !== undefined) return this.#columnOf(source, name);
    return { expression: new ExpressionWrapper<any, any, unknown>(node), column: catalogued(source, name) };
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

/** The error for a query whose rows have a name twice. */
export function repeatedName(subject: string, name: string): ConfigurationError {
  return new ConfigurationError(
    subject,
    `selects ${name} more than once: give one of them another name, or select only one`,
  );
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
  const sourceOf = sourceReader(withQueries(node));
  return [
    ...(node.from?.froms ?? []).map((from) => sourceOf(from, isMainOuter)),
    ...joins.map(({ joinType, table }) => sourceOf(table, !/^(?:Inner|Cross|Lateral)/.test(joinType))),
  ];
}

/** The queries of WITH by the names of their tables. Instead of a query whose columns have other names, it has the names. */
function withQueries({ with: clause }: SelectQueryNode): ReadonlyMap<string, OperationNode> {
  return new Map(
    (clause?.expressions ?? []).map(({ name, expression }) => [
      name.table.table.identifier.name,
      name.columns === undefined ? expression : name,
    ]),
  );
}

/** The names of the tables that WITH defines, in lower case, because some engines ignore case. */
export function withNames(query: AnyQuery): ReadonlySet<string> {
  return new Set([...withQueries(query.toOperationNode()).keys()].map((name) => name.toLowerCase()));
}

function sourceReader(defined: ReadonlyMap<string, OperationNode>): (node: OperationNode, isOuter: boolean) => Source {
  return (node, isOuter) => {
    const alias = AliasNode.is(node) && IdentifierNode.is(node.alias) ? node.alias.name : undefined;
    const inner = AliasNode.is(node) ? node.node : node;
    const shown = filteredTable(inner) ?? inner;
    const table = TableNode.is(shown) ? tableName(shown) : null;
    const definition = table?.schema === undefined ? defined.get(table?.table ?? "") : undefined;
    const rows = definition ?? inner;
    return {
      alias,
      table,
      isDefined: definition !== undefined,
      fields: SelectQueryNode.is(rows) && isWhollyNamed(rows) ? namedFields(rows) : null,
      isOuter,
    };
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

/** The entry of a column in the catalogue. */
function catalogued(source: Source | undefined, name: string): FieldSource["column"] {
  if (source === undefined || source.table === null || source.isDefined) return null;
  return { table: source.table, name, isOuter: source.isOuter };
}

/** Whether a source has a column; `undefined` if that is not known. */
function hasColumn(source: Source | null, name: string, known: KnownColumns): boolean | undefined {
  if (source === null) return undefined;
  if (source.fields !== null) return source.fields.has(name);
  return source.table === null || source.isDefined ? undefined : known(source.table)?.has(name);
}

function columnName({ column }: ReferenceNode): string | undefined {
  return column.kind === "ColumnNode" ? column.column.name : undefined;
}
