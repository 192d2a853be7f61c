import type { ParentKey, ParentSeek } from "../../pagination/handlers/data-handler.ts";
import type { Order } from "../../pagination/keys/order.ts";
import { keyedItems } from "../queries/keyed-items.ts";
import { keyOf } from "../queries/query-shape.ts";
import { type Among, mergedBy } from "./items-among.ts";
import type { NestedList } from "./nested-list.ts";
import { NestedReading, type NestedSource } from "./nested-reading.ts";

type Row = Record<string, unknown>;

/**
 * Returns the rows after each key in the list of its parent, or `null` if there is a null in a column that the
 * catalogue says is never null.
 *
 * @param among the values whose rows each list is merged from
 */
export async function itemsBelow(
  source: NestedSource,
  seeks: readonly ParentSeek[],
  order: Order,
  limit: number,
  among: Among | null = null,
): Promise<readonly (readonly Row[] | Error)[] | null> {
  const { query, shape, uniqueKey, selection } = source;
  const { dialect } = shape;
  const columns = await shape.columns(query, order, uniqueKey);
  const name = `${keyOf(order)} ${limit} ${selection?.name ?? ""}`;
  const reading = await readingOf(source, seeks, { columns, limit }, name, among);
  const found = await reading.lists(seeks);
  const items = found.map((rows) => (rows instanceof Error ? rows : keyedItems(rows, columns, dialect, selection)));
  return items.includes(null) ? null : (items as (readonly Row[] | Error)[]);
}

/** Returns the number of rows in the list of each parent, at most `cap`. */
export async function countsBelow(
  source: NestedSource,
  parents: readonly ParentKey[],
  cap: number | null,
): Promise<readonly (number | Error)[]> {
  const seeks = parents.map((parent) => ({ parent, key: null }));
  const reading = await readingOf(source, seeks, { cap, columns: [] }, `count ${cap}`);
  const found = await reading.lists(seeks);
  return found.map((rows) => (rows instanceof Error ? rows : Number(rows[0]?.["total"])));
}

async function readingOf(
  source: NestedSource,
  seeks: readonly ParentSeek[],
  read: NestedList["read"],
  name: string,
  among: Among | null = null,
): Promise<NestedReading> {
  const { query, shape, uniqueKey, selection } = source;
  const names = Object.keys(seeks[0]?.parent ?? {});
  const parents = await shape.columns(
    query,
    names.map((column) => [column, "asc"] as const),
    uniqueKey,
  );
  const list: NestedList = { query: selection?.of(query) ?? query, dialect: shape.dialect, parents, read };
  const [column] = among === null ? [] : await shape.columns(query, [[among.column, "asc"]], uniqueKey);
  const by = among === null || column === undefined ? null : mergedBy(among, column);
  return new NestedReading(source, list, names, `below ${names.join()} ${name}`, by);
}
