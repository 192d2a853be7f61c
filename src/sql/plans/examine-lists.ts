import type { Kysely } from "kysely";
import { describeError } from "../../core/describe-error.ts";
import { isEqual } from "../../pagination/conditions/is-equal.ts";
import type { AnyHandler, Counted, ParentKey } from "../../pagination/handlers/data-handler.ts";
import type { Totals } from "../../pagination/handlers/totals.ts";
import { type Order, withNulls } from "../../pagination/keys/order.ts";
import type { ReadList } from "../../pagination/pages/note-list.ts";
import { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { WatchedDatabase } from "../database/on-statement-sent.ts";
import { TableHandler } from "../lists/table-handler.ts";
import { type CountFault, explainCount } from "./explain-count.ts";
import { explainList, onDatabase, type PlanFault } from "./explain-list.ts";

/** The plans of the lists of one field or route. */
export interface PlacePlans {
  /** The field or the route, such as `Author.books` or `GET /books`. */
  readonly place: string;
  /** The number of pages that were explained. */
  readonly pages: number;
  /** The faults, one for each missing index. */
  readonly faults: readonly PlanFault[];
  /** The counts that need another index. */
  readonly counts: readonly CountFault[];
  /** The reasons for pages that could not be explained. */
  readonly gaps: readonly string[];
}

/** How many lists with the same text are tried until one of them has rows. */
const MAX_TRIED = 20;

/** The plans of the lists that were read. */
export interface ExaminedLists {
  readonly plans: readonly PlacePlans[];
  /** The lists that no plan can be seen of, each with the reason. */
  readonly unchecked: readonly UncheckedList[];
}

/** A list whose plans are unknown. */
export interface UncheckedList {
  readonly place: string;
  readonly reason: string;
  /** Whether its items were given as a list in memory, so that Portico sends no statement for a page. */
  readonly isInMemory: boolean;
}

/** Explains the pages of lists of `tableHandler`, and the counts among the statements that were sent. */
export async function examineLists(
  database: WatchedDatabase,
  lists: readonly ReadList[],
  sent: ReadonlySet<string> = new Set(),
): Promise<ExaminedLists> {
  const found = new Map<string, PlacePlans>();
  const decided = await Promise.all(lists.map(tableList));
  const groups = Map.groupBy(decided.flat(), ({ text }) => text);
  for (const same of groups.values()) {
    const plans = await plansOf(database as Kysely<any>, same.slice(0, MAX_TRIED), sent);
    const known = found.get(plans.place);
    found.set(plans.place, known === undefined ? plans : merged(known, plans));
  }
  const others = lists.filter(({ place, handler }) => isOther(handler) && !found.has(place));
  const unchecked = new Map(others.map(({ place, handler }) => [place, { place, ...reasonOf(handler) }]));
  return { plans: [...found.values()], unchecked: [...unchecked.values()] };
}

/** Whether a list has no table. The list of one parent has that of its source. */
function isOther(handler: AnyHandler<unknown>): boolean {
  return !(sourceOf(handler) instanceof TableHandler);
}

function sourceOf(handler: AnyHandler<unknown>): AnyHandler<unknown> {
  return (handler as Partial<NestedPart>).below?.source ?? handler;
}

function reasonOf(handler: AnyHandler<unknown>): Pick<UncheckedList, "reason" | "isInMemory"> {
  const source = sourceOf(handler);
  const isInMemory = (source as Partial<Counted>).isCounted === true;
  const reason = isInMemory
    ? "its items are a list in memory, and the statement that loaded them is unknown"
    : `${source.constructor.name} sends its own statements, which can't be explained`;
  return { reason, isInMemory };
}

/** A list of a table. */
interface TableList {
  readonly place: string;
  readonly handler: TableHandler<any, any>;
  readonly orders: readonly Order[] | null;
  /** Whether it is the list of one parent, whose rows usually belong to one tenant. */
  readonly isNested: boolean;
  /** How far its rows are counted, with `null` for all of them. */
  readonly caps: readonly (number | null)[];
  /** Equal for lists of a place that differ in values only. */
  readonly text: string;
}

async function tableList({ place, strategy, handler: given, within }: ReadList): Promise<readonly TableList[]> {
  const handler = await within(() => tableOf(given)?.["~decided"]());
  if (handler === undefined) return [];
  const orders = strategy instanceof CursorPagination ? ordersOf(strategy) : null;
  const text = JSON.stringify([place, handler["~source"].query.compile().sql, orders]);
  const { totals } = strategy as { readonly totals?: Totals };
  const caps = typeof totals === "object" ? [totals.capped, null] : [null];
  return [{ place, handler, orders, caps, text, isNested: !(given instanceof TableHandler) }];
}

/** The list of one parent, among the lists of all of them. */
interface NestedPart {
  readonly below: { readonly source: AnyHandler<unknown>; readonly parent: ParentKey };
}

/** The table of a list. The list of one parent is explained on its own, and needs the same index. */
function tableOf(handler: AnyHandler<unknown>): TableHandler<any, any> | null {
  if (handler instanceof TableHandler) return handler;
  const { below } = handler as Partial<NestedPart>;
  if (below === undefined || !(below.source instanceof TableHandler)) return null;
  const { source, parent } = below;
  // A null refers to no parent.
  if (Object.values(parent).includes(null)) return null;
  return Object.entries(parent).reduce(
    (table: TableHandler<any, any>, [column, value]) => table.scopedTo(isEqual(column, value)),
    source,
  );
}

/** The default order, and each column that clients may sort by, both ways. */
function ordersOf({ order, sort, nulls }: CursorPagination<any, any>): readonly Order[] {
  const columns = [...(sort?.columns.values() ?? [])];
  const sorted = columns.flatMap((column): readonly Order[] => [[[column, "asc"]], [[column, "desc"]]]);
  return [order, ...sorted].map((one) => withNulls(one, nulls));
}

/** @param same lists that differ in values only */
async function plansOf(
  database: Kysely<any>,
  same: readonly TableList[],
  sent: ReadonlySet<string>,
): Promise<PlacePlans> {
  let found: PlacePlans = { place: same[0]?.place ?? "", pages: 0, faults: [], counts: [], gaps: [] };
  for (const { place, handler: given, orders, caps, isNested } of same) {
    try {
      const handler = onDatabase(database, given);
      const { pages, faults, withoutRows } = await explainList(database, handler, orders, !isNested);
      const counts = await explainCount(database, handler, caps, sent);
      const gaps = withoutRows.map((order) => `no rows: the deep pages in the order ${order} were not explained`);
      found = { place, pages, faults: perIndex(faults), counts: withoutPages(counts, faults), gaps };
    } catch (error) {
      const reason = describeError(error);
      return { ...found, gaps: [`could not be explained: ${reason}`] };
    }
    if (found.gaps.length === 0) break;
  }
  return found;
}

/** The first fault for each missing index. */
function perIndex(faults: readonly PlanFault[]): readonly PlanFault[] {
  const found = new Map<string, PlanFault>();
  for (const fault of faults) {
    const key = fault.index ?? JSON.stringify([fault.order, fault.problem]);
    if (!found.has(key)) found.set(key, fault);
  }
  return [...found.values()];
}

/** The table and the columns of an index. */
const partsOf = (index: string): string => index.slice(index.indexOf(" ON "), -1);

/** The counts that the index of a page does not serve as well. */
function withoutPages(counts: readonly CountFault[], faults: readonly PlanFault[]): readonly CountFault[] {
  return counts.filter(
    ({ index }) => !faults.some((fault) => fault.index !== null && partsOf(fault.index).startsWith(partsOf(index))),
  );
}

function merged(one: PlacePlans, other: PlacePlans): PlacePlans {
  return {
    place: one.place,
    pages: one.pages + other.pages,
    faults: perIndex([...one.faults, ...other.faults]),
    counts: [...one.counts, ...other.counts],
    gaps: [...new Set([...one.gaps, ...other.gaps])],
  };
}
