import { type OperationNode, ReferenceNode, SelectQueryNode } from "kysely";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { parametersOf } from "../statements/statement.ts";
import { QueryColumns, type SelectedField } from "./query-columns.ts";
import type { TableName } from "./table-columns.ts";

/** The part of a query's columns that a list reads. */
export interface Selection {
  /** The columns, as a part of the names of statements. */
  readonly name: string;
  /** Returns a query of the same text with these columns only. Its parameters are those of the whole query. */
  of(query: AnyQuery): AnyQuery;
  /** The prototype of the rows, on which the other columns throw. */
  readonly rows: object;
}

/** Returns the columns of a table, or nothing if they are unknown. */
export type ColumnsOf = (table: TableName) => Promise<ReadonlySet<string>>;

/**
 * Returns the part of the query with these fields, or `null` if the whole query has to be read: one of the fields is not among
 * its columns, or nothing can be left out.
 */
export async function selectionOf(
  query: AnyQuery,
  dialect: SqlDialect,
  fields: readonly string[],
  columnsOf: ColumnsOf,
): Promise<Selection | null> {
  const columns = new QueryColumns(query);
  const wanted = new Set(fields.map((field) => columns.nameOf(field)));
  const parts: Part[] = [];
  for (const field of columns.selected) parts.push(await partOf(field, dialect, wanted, columnsOf));
  const kept = new Set(parts.flatMap((part) => part.kept));
  const leftOut = new Set(parts.flatMap((part) => part.leftOut).filter((name) => !kept.has(name)));
  if (leftOut.size === 0 || [...wanted].some((name) => !kept.has(name))) return null;
  const pick = (of: AnyQuery): AnyQuery => {
    const { selected } = new QueryColumns(of);
    const nodes = selected.flatMap(({ node }, at) => (parts[at] as Part).nodes ?? [node]);
    return of.clearSelect().select(nodes.map((node) => ({ toOperationNode: () => node })) as never);
  };
  return { name: `columns ${JSON.stringify([...kept])}`, of: pick, rows: rowPrototype(leftOut) };
}

/** The part of one entry of the select clause that is read. */
interface Part {
  /** Its replacement; `null` if it stays as it is. */
  readonly nodes: readonly OperationNode[] | null;
  readonly kept: readonly string[];
  readonly leftOut: readonly string[];
}

async function partOf(
  field: SelectedField,
  dialect: SqlDialect,
  wanted: ReadonlySet<string>,
  columnsOf: ColumnsOf,
): Promise<Part> {
  const { node, name, star } = field;
  if (star !== null) {
    const all = [...(star.fields ?? (star.table === null ? [] : await columnsOf(star.table)))];
    if (all.length === 0) return { nodes: null, kept: [], leftOut: [] };
    const kept = all.filter((column) => wanted.has(column));
    return { nodes: kept.map(star.reference), kept, leftOut: all.filter((column) => !wanted.has(column)) };
  }
  if (name === undefined) return { nodes: null, kept: [], leftOut: [] };
  const isKept = wanted.has(name) || !isOmissible(field, dialect, node);
  return isKept ? { nodes: null, kept: [name], leftOut: [] } : { nodes: [], kept: [], leftOut: [name] };
}

/**
 * Whether the query has the same rows and the same parameters without this entry. A function may return a set of rows or
 * be an aggregate.
 */
function isOmissible({ value }: SelectedField, dialect: SqlDialect, node: OperationNode): boolean {
  return (ReferenceNode.is(value) || SelectQueryNode.is(value)) && parametersOf(dialect, node).length === 0;
}

function rowPrototype(leftOut: ReadonlySet<string>): object {
  const getters = [...leftOut].map((column) => {
    const get = (): never => {
      throw new TypeError(
        `the column ${column} was not read, because no selected field declares it: add it to the \`reads\` of the field or the rule that needs it`,
      );
    };
    return [column, { get, enumerable: false, configurable: false }] as const;
  });
  return Object.create(Object.prototype, Object.fromEntries(getters)) as object;
}
