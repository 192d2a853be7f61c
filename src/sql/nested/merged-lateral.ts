import { type OperationNode, type RawBuilder, sql } from "kysely";
import { type KeyColumn, keyText } from "../queries/key-column.ts";
import { mergedRows, resultOrder, resultTexts } from "../queries/seek-statement.ts";
import { KeySlot, Statement } from "../statements/statement.ts";
import {
  allRows,
  LIST,
  type ListPage,
  listRows,
  PARENTS,
  pageColumns,
  parentValueOf,
  ROWS,
  sortedRows,
  typedLists,
  unnested,
  valueName,
  valueNames,
} from "./nested-list.ts";

/** The text of the value of a list. */
export const EXACT = "~exact";

/**
 * Returns the statement for the first rows of several lists together, with LATERAL. It looks up the first row of each
 * list, and only reads on in the lists whose first rows come first: no more of them than the page has rows.
 *
 * @param lists the lists as rows of `PARENTS`, with the values of `valueNames`
 * @param isNull which columns of the key are null; `null` for lists that are read from the beginning
 */
export function mergedLateral(
  list: ListPage,
  lists: RawBuilder<unknown>,
  isNull: readonly boolean[] | null,
): Statement {
  const { dialect, read } = list;
  const page = mergedPage(list, lists, isNull, resultTexts(dialect, read.columns));
  return new Statement(dialect, page.toOperationNode(), pageColumns(read.columns));
}

/** The values of a rule, for lists that each are merged from the rows of these values. */
export interface MergedBy {
  /** Their column, with the type of the values. */
  readonly column: KeyColumn;
  /** Returns the text of each value twice: by its collation and exactly. Slots stand for its parameters. */
  readonly texts: OperationNode;
  readonly given: readonly unknown[];
}

const OUTER = "~outer";

/**
 * Returns the statement for the first rows of the lists of several parents, each of them merged from the rows of the same values.
 * Its parameters are those of the values, followed by those of `lateralStatement`.
 */
export function mergedLists(
  list: ListPage,
  { column, texts, given }: MergedBy,
  patterns: readonly (readonly boolean[] | null)[],
): Statement {
  let slots = given.length;
  const own = { ...list, query: list.query.where(hasText(column) as never), parents: [column, ...list.parents] };
  const parts = patterns.map((isNull) => {
    const outer = valueNames(list, isNull);
    const parents = unnested(outer, () => new KeySlot(slots++), OUTER);
    const places = outer.map((name) => sql.id(OUTER, name));
    const page = mergedPage(own, distinctTexts(own, isNull, texts, places), isNull, []);
    return sql`select ${sql.id(ROWS)}.*, ${sql.id(OUTER, LIST)} from ${parents} cross join lateral (${page}) as ${sql.id(ROWS)}`;
  });
  const rows = allRows(list, sql.join(parts, sql` union all `));
  return new Statement(list.dialect, rows.toOperationNode(), pageColumns(list.read.columns, [], [LIST]));
}

/** PostgreSQL would multiply the estimates of two equalities as if they were independent. */
export function hasText(column: KeyColumn): RawBuilder<boolean> {
  const value = sql.id(PARENTS, EXACT);
  return sql`case when ${keyText("postgres", column)} collate "C" = ${value} then true else false end`;
}

/**
 * Returns the values of a query as lists, each of them once, with the other values of the lists as text. DISTINCT also hides these from
 * the planner, which would expect few rows after a key in the list of an average value, and read and sort all of those of a large one.
 */
export function distinctTexts(
  list: ListPage,
  isNull: readonly boolean[] | null,
  texts: OperationNode,
  others: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const [value = "", ...names] = valueNames(list, isNull);
  const columns = [value, "~same", ...names].map((name) => sql.id(name));
  const selected = [sql`${sql.id(TEXTS)}.*`, ...others.map((other) => sql`${other}::text`)];
  const rows = sql`select distinct ${sql.join(selected)} from (${{ toOperationNode: () => texts }}) as ${sql.id(TEXTS)}`;
  return sql`(${rows}) as ${sql.id(PARENTS)}(${sql.join(columns)})`;
}

const TEXTS = "~texts";

function mergedPage(
  list: ListPage,
  lists: RawBuilder<unknown>,
  isNull: readonly boolean[] | null,
  others: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const { dialect, read } = list;
  const rowsOf = (limit: number): RawBuilder<unknown> => {
    const ranges = listRows({ ...list, read: { ...read, limit } }, isNull, [], parentValueOf(list, isNull));
    const [only, ...others] = ranges;
    return sql`(${others.length === 0 ? only : mergedRows(ranges, dialect, read.columns, limit)}) as ${sql.id(ROWS)}`;
  };
  const typed = typedLists(list, isNull, lists, [sql`${sql.id(valueName(0))} as ${sql.id(EXACT)}`]);
  const first = sql`select ${sql.id(PARENTS)}.* from ${typed} cross join lateral ${rowsOf(1)}`;
  const columns = sql.join([sql`${sql.id(ROWS)}.*`, ...others]);
  const page = sql`select ${columns} from (${limited(list, first)}) as ${sql.id(PARENTS)} cross join lateral ${rowsOf(read.limit)}`;
  return limited(list, page);
}

function limited({ dialect, read }: ListPage, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${rows} order by ${sql.join(resultOrder(dialect, read.columns))} limit ${sql.lit(read.limit)}`;
}

/** Returns the statement for the first rows of the terms of `runUnion`, which stand in the place of its only parameter. */
export function mergedUnion(list: ListPage): Statement {
  const { dialect, read } = list;
  const rows = sortedRows(list, sql`${new KeySlot(0)}`, resultOrder(dialect, read.columns));
  const page = sql`${rows} limit ${sql.lit(read.limit)}`;
  return new Statement(dialect, page.toOperationNode(), pageColumns(read.columns, [LIST]));
}
