import { type AliasedRawBuilder, type OperationNodeSource, type RawBuilder, sql } from "kysely";
import { countRows } from "../queries/count-statement.ts";
import { type KeyColumn, keyParameter } from "../queries/key-column.ts";
import { mergedRows, partColumns, resultOrder, resultTexts, seekParts, textColumn } from "../queries/seek-statement.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import type { SqlDialect } from "../statements/sql-dialect.ts";
import { KeySlot, runRaw, SELECTED, Statement } from "../statements/statement.ts";

/** The column that says which list a row belongs to. */
export const LIST = "~list";
export const PARENTS = "~parents";
export const ROWS = "~rows";
const LISTS = "~lists";

/** The lists of a query, one for each parent, and the part of each that a statement reads. */
export interface NestedList {
  readonly query: AnyQuery;
  readonly dialect: SqlDialect;
  /** The columns that refer to the parent. */
  readonly parents: readonly KeyColumn[];
  /** A page in the order of these columns, or a count. */
  readonly read:
    | { readonly columns: readonly KeyColumn[]; readonly limit: number }
    | { readonly cap: number | null; readonly columns: readonly [] };
}

/** Lists of which a statement reads a page. */
export interface ListPage extends NestedList {
  readonly read: { readonly columns: readonly KeyColumn[]; readonly limit: number };
}

/**
 * Returns the statement that reads the lists of any number of parents with LATERAL. Its text does not depend on that
 * number: each parameter is an array with a value for each list. A pattern of nulls in the keys has its own part.
 *
 * @param patterns which columns of the keys are null; `null` for lists that are read from the beginning
 */
export function lateralStatement(list: NestedList, patterns: readonly (readonly boolean[] | null)[]): Statement {
  let slots = 0;
  const parts = patterns.map((isNull) => {
    const texts = unnested(valueNames(list, isNull), () => new KeySlot(slots++));
    const lists = typedLists(list, isNull, texts, [sql.id(LIST)]);
    const ranges = listRows(list, isNull, [], parentValueOf(list, isNull));
    const [only, ...others] = ranges;
    const rows =
      "cap" in list.read || others.length === 0
        ? only
        : mergedRows(ranges, list.dialect, list.read.columns, list.read.limit);
    return sql`select ${sql.id(ROWS)}.*, ${sql.id(PARENTS, LIST)} from ${lists} cross join lateral (${rows}) as ${sql.id(ROWS)}`;
  });
  const columns = "cap" in list.read ? ["total", LIST] : pageColumns(list.read.columns, [], [LIST]);
  return new Statement(list.dialect, allRows(list, sql.join(parts, sql` union all `)).toOperationNode(), columns);
}

/** Returns the lists as rows: the number of each, and the values that travel with it. */
export function unnested(names: readonly string[], slot: () => KeySlot, alias: string = PARENTS): RawBuilder<unknown> {
  const arrays = [sql`${slot()}::integer[]`, ...names.map(() => sql`${slot()}::text[]`)];
  const columns = sql.join([LIST, ...names].map((name) => sql.id(name)));
  return sql`unnest(${sql.join(arrays)}) as ${sql.id(alias)}(${columns})`;
}

/**
 * Returns the lists with their values in the types of the columns. They are sent as text, so that they are exact. OFFSET keeps the
 * casts out of the comparisons: a cast may fail, so an index would not serve it below a policy of the table.
 *
 * @param others further columns
 */
export function typedLists(
  list: NestedList,
  isNull: readonly boolean[] | null,
  texts: RawBuilder<unknown>,
  others: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const columns = isNull === null ? list.parents : [...list.parents, ...list.read.columns];
  const values = columns.map(({ type }, at) => {
    const name = sql.id(valueName(at));
    return sql`cast(${name} as ${sql.raw(type)}) as ${name}`;
  });
  return sql`(select ${sql.join([...others, ...values])} from ${texts} offset 0) as ${sql.id(PARENTS)}`;
}

/** Returns the values of a row of `typedLists`. */
export function parentValueOf(
  list: NestedList,
  isNull: readonly boolean[] | null,
): (column: KeyColumn, at: number) => RawBuilder<unknown> {
  const names = valueNames(list, isNull);
  return (_column, at) => sql.id(PARENTS, names[at] as string);
}

/** Returns the values of the parameters of `lateralStatement`, in its order. */
export function lateralValues(parts: readonly (readonly (readonly unknown[])[])[]): readonly unknown[] {
  let before = 0;
  return parts.flatMap((lists) => {
    const start = before;
    before += lists.length;
    const width = lists[0]?.length ?? 0;
    const columns = Array.from({ length: width }, (_, at) => lists.map((values) => values[at]));
    return [lists.map((_values, index) => start + index), ...columns];
  });
}

/**
 * Returns the statements for one list, as terms of `runUnion`: one for each range of an index. Their first parameter is
 * the number of the list, followed by the values of the parent and of the key.
 */
export function termStatements(list: NestedList, isNull: readonly boolean[] | null): readonly Statement[] {
  const number = sql`${new KeySlot(0)}`.as(LIST);
  const ranges = listRows(list, isNull, [number], (_column, at) => sql`${new KeySlot(1 + at)}`);
  const columns = "cap" in list.read ? ["total", LIST] : [SELECTED, LIST, ...partColumns(list.read.columns)];
  return ranges.map((rows) => new Statement(list.dialect, rows.toOperationNode(), columns));
}

/** Returns the statement around the terms of `runUnion`, which stand in the place of its only parameter. */
export function unionStatement(list: NestedList): Statement {
  const columns = "cap" in list.read ? ["total", LIST] : pageColumns(list.read.columns, [LIST]);
  return new Statement(list.dialect, allRows(list, sql`${new KeySlot(0)}`).toOperationNode(), columns);
}

/**
 * Returns the columns of a page of several lists, in order.
 *
 * @param before columns that precede those of `seekParts`
 * @param after columns that follow them
 */
export function pageColumns(
  columns: readonly KeyColumn[],
  before: readonly string[] = [],
  after: readonly string[] = [],
): readonly string[] {
  const texts = columns.map((_column, index) => textColumn(index));
  return [SELECTED, ...before, ...partColumns(columns), ...after, ...texts];
}

/** A term and the values of its parameters. */
export interface UnionTerm {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Reads several lists with UNION ALL, each range of an index with its own limit. */
export function runUnion(
  { query }: NestedList,
  around: Statement,
  terms: readonly UnionTerm[],
): Promise<Record<string, unknown>[]> {
  const [head = "", tail = ""] = around.fragments;
  const fragments: string[] = [];
  let text = head;
  terms.forEach(({ statement }, index) => {
    text += index === 0 ? "select " : " union all select ";
    statement.fragments.forEach((fragment, at) => {
      if (at > 0) {
        fragments.push(text);
        text = "";
      }
      text += fragment;
    });
  });
  return runRaw(
    query,
    [...fragments, text + tail],
    terms.flatMap(({ values }) => values),
    around.columns,
  );
}

/** The names of the values that travel with each list: those of the parent, then those of the key. */
export function valueNames({ parents, read }: NestedList, isNull: readonly boolean[] | null): readonly string[] {
  const keys = isNull === null ? [] : read.columns;
  return [...parents, ...keys].map((_column, at) => valueName(at));
}

/** Letters, because plugins that rename columns treat digits specially. */
export function valueName(at: number): string {
  return `~v${String.fromCharCode(97 + at)}`;
}

/** The queries for the ranges of one list, or for its count. `valueOf` returns the values of the list by their number. */
export function listRows(
  { query, dialect, parents, read }: NestedList,
  isNull: readonly boolean[] | null,
  others: readonly AliasedRawBuilder<unknown, string>[],
  valueOf: (column: KeyColumn, at: number) => RawBuilder<unknown>,
): readonly OperationNodeSource[] {
  const below = parents.reduce((built: AnyQuery, column, at) => {
    const value = keyParameter(dialect, { ...column, value: valueOf(column, at) }, at);
    return built.where(sql<boolean>`(${column.expression}) = ${value}` as never);
  }, query);
  if ("cap" in read) return [countRows(below, dialect, read.cap, others)];
  const columns = read.columns.map((column, at) => ({ ...column, value: valueOf(column, parents.length + at) }));
  return seekParts(below.select([...others]), dialect, columns, isNull, read.limit);
}

/** The rows of all lists, those of each list in order. */
export function allRows(list: NestedList, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const { dialect, read } = list;
  if ("cap" in read) return sql`select * from (${rows}) as ${sql.id(LISTS)}`;
  return sortedRows(list, rows, [sql.id(LIST), ...resultOrder(dialect, read.columns)]);
}

/** Returns the rows of all lists in an order, with their exact texts. */
export function sortedRows(
  { dialect, read }: NestedList,
  rows: RawBuilder<unknown>,
  by: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const columns = sql.join([sql`*`, ...resultTexts(dialect, read.columns)]);
  const order = sql.join(by);
  // Otherwise SQLite compiles the outer query once for each list.
  return dialect === "sqlite"
    ? sql`select * from (with ${sql.id(LISTS)} as materialized (${rows}) select ${columns} from ${sql.id(LISTS)}) order by ${order}`
    : sql`select ${columns} from (${rows}) as ${sql.id(LISTS)} order by ${order}`;
}
