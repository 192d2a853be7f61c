import { type RawBuilder, sql } from "kysely";
import { mergedRows, resultOrder, resultTexts } from "../queries/seek-statement.ts";
import { KeySlot, Statement } from "../statements/statement.ts";
import {
  LIST,
  type ListPage,
  listRows,
  PARENTS,
  pageColumns,
  parentValueOf,
  ROWS,
  sortedRows,
  typedLists,
  valueName,
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
  const rowsOf = (limit: number): RawBuilder<unknown> => {
    const ranges = listRows({ ...list, read: { ...read, limit } }, isNull, [], parentValueOf(list, isNull));
    const [only, ...others] = ranges;
    return sql`(${others.length === 0 ? only : mergedRows(ranges, dialect, read.columns, limit)}) as ${sql.id(ROWS)}`;
  };
  const typed = typedLists(list, isNull, lists, [sql`${sql.id(valueName(0))} as ${sql.id(EXACT)}`]);
  const first = sql`select ${sql.id(PARENTS)}.* from ${typed} cross join lateral ${rowsOf(1)}`;
  const columns = sql.join([sql`${sql.id(ROWS)}.*`, ...resultTexts(dialect, read.columns)]);
  const page = sql`select ${columns} from (${limited(list, first)}) as ${sql.id(PARENTS)} cross join lateral ${rowsOf(read.limit)}`;
  return new Statement(dialect, limited(list, page).toOperationNode(), pageColumns(read.columns));
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
