import type { CompiledQuery, SelectQueryBuilder } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isInstance } from "../../core/describe-error.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import { columnList, orNull, resolveOptions, text, wholeNumber, withMethod } from "../../core/resolve-options.ts";
import { BatchQueue } from "../../core/work/batch-queue.ts";
import { ALWAYS, type Condition, type ConditionValue } from "../../pagination/conditions/condition.ts";
import { isIn, loosely } from "../../pagination/conditions/is-equal.ts";
import {
  AsyncDataHandler,
  type Capping,
  type Deep,
  type Estimating,
  type FetchContext,
  type Nestable,
  type ParentKey,
  type ParentSeek,
  type Scopable,
  type Seekable,
  type SeekRequest,
  type Selecting,
  type Sorting,
} from "../../pagination/handlers/data-handler.ts";
import type { KeyTuple } from "../../pagination/keys/key-tuple.ts";
import { type Order, reversed } from "../../pagination/keys/order.ts";
import { comparedFields, RELATED } from "../conditions/condition-expression.ts";
import { type Guard, guardOf } from "../guard/guard.ts";
import { AS_PORTICO } from "../guard/guard-caller.ts";
import { AS_WRITTEN, checkAliases, GuardedList } from "../guard/guarded-list.ts";
import { readTables } from "../guard/read-tables.ts";
import { type Among, amongRule, itemsAmong } from "../nested/items-among.ts";
import { countsBelow, itemsBelow } from "../nested/items-below.ts";
import type { NestedSource } from "../nested/nested-reading.ts";
import { estimateRows } from "../queries/estimate-rows.ts";
import { exactJson } from "../queries/exact-json.ts";
import { isDataException, keyedItems, keyValues, misfitOf } from "../queries/keyed-items.ts";
import { KYSELY, type QueryOrigin } from "../queries/query-origin.ts";
import { QueryShape } from "../queries/query-shape.ts";
import { rowsAt } from "../queries/rows-at.ts";
import type { AnyQuery } from "../statements/any-query.ts";
import { MergeChoice } from "./merge-choice.ts";
import { checkRestrictable, scopedQuery } from "./scoped-query.ts";
import { columnOf, type Split, splitsOf } from "./splits-of.ts";
import type { TotalsCache } from "./totals-cache.ts";
import { withClosedWhere } from "./with-closed-where.ts";

export interface TableHandlerOptions<Row, C extends string = Extract<keyof Row, string>> {
  /** Scope of the list's cursors. @default the table */
  readonly name?: string;
  /** Columns that together identify a row. @default ["id"] */
  readonly uniqueKey?: readonly Extract<keyof Row, string>[];
  /**
   * Larger offsets are rejected before a statement is sent. By default, a page is rejected if more than 10,000 rows
   * must be skipped to reach it, from the closer end if the rows are counted. `null` disables the limit. It does not
   * apply to cursors. @default 10,000 skipped rows
   */
  readonly maxOffset?: number | null;
  /** Caches exact counts. @default none */
  readonly totalsCache?: TotalsCache;
  /**
   * Restricts the list to rows whose column has one of these values, as in `{ source_id: followed }`. With an index on
   * the column followed by the order, a cursor page is merged from the index ranges of the values. It reads neither all
   * rows of the values nor rows of other values. @default all rows
   */
  readonly among?: { readonly [K in C]?: readonly ConditionValue[] };
}

/**
 * The rows of a query, created by `tableHandler` or `drizzleHandler`. `C` names the columns that they can be sorted by in addition to their
 * own.
 */
export class TableHandler<T, C extends string = Extract<keyof T, string>>
  extends AsyncDataHandler<T>
  implements Seekable<T>, Estimating, Capping, Deep, Scopable<T>, Nestable<T>, Selecting<T>, Sorting<C>
{
  declare readonly "~columns"?: (column: C) => void;
  declare readonly name?: string;
  declare readonly maxOffset?: number;
  declare readonly maxSkipped?: number;
  readonly uniqueKey: readonly string[];
  readonly endsWhenShort = true;
  readonly #parts: Parts<T, C>;

  private constructor(parts: Parts<T, C>) {
    super();
    this.#parts = parts;
    this.uniqueKey = parts.uniqueKey;
    if (parts.name !== undefined) this.name = parts.name;
    if (parts.maxOffset !== undefined) this.maxOffset = parts.maxOffset;
    if (parts.maxSkipped !== undefined) this.maxSkipped = parts.maxSkipped;
  }

  /** @internal The rows of a query, for `tableHandler` and `drizzleHandler`, which know the types. */
  static "~of"<T, C extends string>(
    query: AnyQuery,
    options: TableHandlerOptions<T, C> | undefined,
    origin: QueryOrigin = KYSELY,
  ): TableHandler<T, C> {
    const { label } = origin;
    const {
      name,
      uniqueKey = BY_ID,
      maxOffset,
      totalsCache,
      among: given,
    } = options === undefined ? NO_OPTIONS : resolveOptions(label, options, tableRules);
    if (typeof (query as AnyQuery | null)?.toOperationNode !== "function")
      throw new ConfigurationError("tableHandler", "requires a Kysely select query that has not been executed");
    const { limit, offset } = query.toOperationNode();
    if (limit !== undefined || offset !== undefined)
      throw new ConfigurationError(label, "requires a query without LIMIT and OFFSET: the strategy sets them");
    const closed = withClosedWhere(query);
    const { source, guard } = guardedSource(closed);
    const shape = QueryShape.of(source.sql, origin);
    shape.declare(query, uniqueKey);
    const all = new TableHandler<T, C>({
      query: closed,
      origin,
      source,
      guard,
      last: undefined,
      uniqueKey,
      totalsCache,
      name: name ?? shape.tableOf(query),
      maxOffset: maxOffset ?? undefined,
      maxSkipped: maxOffset === undefined ? MAX_SKIPPED : undefined,
      merges: [],
      columns: null,
      later: null,
      isRestricted: false,
    });
    if (given === undefined) return all;
    const { column } = given;
    const values = given.values.map((value) => origin.encode(column, value));
    return all.#with({
      query: scopedQuery(closed, shape, loosely(isIn(column, given.values))),
      merges: [{ by: { column, values }, all: async () => all }],
    });
  }

  #with(changes: Partial<Parts<T, C>>): TableHandler<T, C> {
    return new TableHandler({
      ...this.#parts,
      last: undefined,
      ...(changes.query === undefined || changes.query === this.#parts.query ? {} : { source: undefined }),
      ...changes,
    });
  }

  /**
   * Checks in the catalogue whether the columns of `uniqueKey` exist. Throws `ConfigurationError` for a missing one, as
   * the first page of the list would. Call it in `app.onStart` to find a mistake before the first request.
   */
  async check(): Promise<void> {
    await this.#shape.check(this.#parts.query, this.uniqueKey);
  }

  /**
   * Returns the list of the rows that meet the condition. A column is that of the selected field with its name, or else
   * of the query's first table. Throws `ConfigurationError` if the query groups or combines rows: select from it as a
   * subquery.
   */
  scopedTo(condition: Condition): TableHandler<T, C> {
    const { query, later } = this.#parts;
    const shape = this.#shape;
    if (later === null && shape.isDecided(query, comparedFields(condition["~condition"])))
      return this.#scoped(condition);
    checkRestrictable(query, shape);
    const conditions = [...(later?.conditions ?? []), condition];
    return this.#with({ later: { from: later?.from ?? this, conditions } });
  }

  /** Whether the query has all conditions of the list and of the database's guard. */
  get #isReady(): boolean {
    return this.#parts.later === null && this.#parts.guard === null;
  }

  /**
   * @internal The list with all of its conditions, for which the catalogue may have to be read. With a guard, it is that of the
   * current caller.
   */
  async "~decided"(): Promise<TableHandler<T, C>> {
    return (await this.#withConditions()).#guarded();
  }

  #guarded(): TableHandler<T, C> {
    const { guard, query } = this.#parts;
    if (guard === null) return this;
    const rules = GuardedList.of(guard, query, this.#source.sql);
    // The list, its total and its cursors usually have one caller. Only the rules decide whether they do.
    const { last } = this.#parts;
    const list = last?.rules.isSame(rules) === true ? last.list : this.#guardedBy(rules, guard);
    this.#parts.last = { rules, list };
    return list;
  }

  #guardedBy(rules: GuardedList, guard: Guard): TableHandler<T, C> {
    const { query, isRestricted } = this.#parts;
    const table = this.#shape.tableOf(query) ?? "";
    const own = splitsOf(rules.ruleOf(table))
      .filter((by) => this.#shape.isOfFirst(query, columnOf(by)))
      .map((by): Merge<T, C> => {
        const rest = rules.replacing(table, by.rest);
        const isAsWritten = !rest.isRestricting && readTables(guard, query, this.#source.sql).isKept;
        const all = {
          query: rest.guarded(query),
          ...(isAsWritten && { source: this.#source }),
          guard: null,
          merges: [],
        };
        return { by, all: async () => this.#with(all) };
      });
    return this.#with({
      query: rules.guarded(query),
      guard: null,
      merges: [...this.#merges((all) => all.#guarded()), ...own],
      // The statistics of a planner cover all rows.
      isRestricted: isRestricted || rules.isRestricting,
    });
  }

  /** @internal The list of all rows, whatever the guard of the database says. */
  "~unguarded"(): TableHandler<T, C> {
    const { guard, query } = this.#parts;
    return guard === null ? this : this.#with({ query: query.withPlugin(AS_PORTICO), guard: null });
  }

  async #withConditions(): Promise<TableHandler<T, C>> {
    const { later, columns } = this.#parts;
    if (later === null) return this;
    let decided = later.from;
    for (const condition of later.conditions) decided = await decided.#learned(condition);
    return columns === null ? decided : decided.selecting(columns);
  }

  /** @internal The same list on another executor, to which `bind` moves a query. */
  "~through"(bind: (query: AnyQuery) => AnyQuery): TableHandler<T, C> {
    return this.#with({ query: bind(this.#parts.query), merges: this.#merges((all) => all["~through"](bind)) });
  }

  async #learned(condition: Condition): Promise<TableHandler<T, C>> {
    const { query } = this.#parts;
    const shape = this.#shape;
    if (!shape.isDecided(query, comparedFields(condition["~condition"]))) await shape.learn(query);
    return this.#scoped(condition);
  }

  #scoped(condition: Condition): TableHandler<T, C> {
    const own = splitsOf(condition).map((by): Merge<T, C> => ({ by, all: async () => this.#scoped(by.rest) }));
    return this.#with({
      query: scopedQuery(this.#parts.query, this.#shape, condition),
      merges: [...this.#merges((all) => all.#learned(condition)), ...own],
      isRestricted: true,
    });
  }

  /** Returns the merges of a changed list. */
  #merges(
    change: (all: TableHandler<T, C>) => TableHandler<T, C> | Promise<TableHandler<T, C>>,
  ): readonly Merge<T, C>[] {
    return this.#parts.merges.map(({ by, all }) => ({ by, all: async () => change(await all()) }));
  }

  /**
   * Returns the list with only these columns in its rows, if the query can be read without the others. Otherwise, its rows
   * have all columns. Reading a column that was left out throws `TypeError`.
   */
  selecting(columns: readonly string[]): TableHandler<T, C> {
    // Drizzle maps rows by the order of its fields.
    if (this.#parts.origin !== KYSELY) return this;
    const sorted = [...new Set(columns)].toSorted();
    return this.#with({ columns: sorted, merges: this.#merges((all) => all.selecting(sorted)) });
  }

  isMisfit(error: unknown): boolean {
    return isDataException(error);
  }

  async getTotalItems(): Promise<number> {
    if (!this.#isReady) return (await this["~decided"]()).getTotalItems();
    const { sql, parameters } = this.#source;
    if (this.#parts.totalsCache === undefined) return this.#count(null);
    return this.#parts.totalsCache.get(exactJson([sql, parameters]), () => this.#count(null));
  }

  async countUpTo(cap: number): Promise<number> {
    return (await this["~decided"]()).#count(cap);
  }

  async estimateTotalItems(): Promise<number> {
    if (!this.#isReady) return (await this["~decided"]()).estimateTotalItems();
    // The statistics of a planner cover all rows, so an estimate would tell about those that a rule or a filter leaves out.
    if (this.#parts.isRestricted) return this.#count(null);
    return (await estimateRows(this.#parts.query, this.#shape.dialect)) ?? (await this.#count(null));
  }

  async getItems(offset: number, limit: number, context?: FetchContext): Promise<readonly T[]> {
    if (!this.#isReady) return (await this["~decided"]()).getItems(offset, limit, context);
    try {
      return (await rowsAt(this.#parts.query, this.uniqueKey, offset, limit, context?.totalItems)) as readonly T[];
    } catch (error) {
      // If the unique key does not exist, that error is clearer. Inside a failed transaction, the catalogue cannot be
      // read.
      await this.check().catch((reason: unknown) => {
        throw isInstance(reason, ConfigurationError) ? reason : error;
      });
      throw error;
    }
  }

  async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly T[]> {
    if (!this.#isReady) return (await this["~decided"]()).getItemsAfter(seek, limit);
    const order = seek.direction === "forward" ? seek.order : reversed(seek.order);
    const found = await this.#seek(order, seek.key, limit);
    if (found !== null) return found;
    // A null in a column that the catalogue says is never null means that the table has changed, so the catalogue is
    // read again.
    await this.#forget();
    return (await this.#seek(order, seek.key, limit)) ?? [];
  }

  async getItemsBelow(
    seeks: readonly ParentSeek[],
    { order, direction }: Pick<SeekRequest, "order" | "direction">,
    limit: number,
  ): Promise<readonly (readonly T[] | Error)[]> {
    if (!this.#isReady) return (await this["~decided"]()).getItemsBelow(seeks, { order, direction }, limit);
    const directed = direction === "forward" ? order : reversed(order);
    const encoded = seeks.map(({ parent, key }) => ({ parent: this.#encoded(parent), key }));
    const found =
      (await this.#mergedBelow(encoded, directed, limit)) ??
      (await itemsBelow(await this.#selected(), encoded, directed, limit));
    if (found !== null) return found as readonly (readonly T[] | Error)[];
    await this.#forget();
    return ((await itemsBelow(await this.#selected(), encoded, directed, limit)) ?? []) as readonly (
      | readonly T[]
      | Error
    )[];
  }

  /** Returns lists that are merged by the values of a rule; `null` if no rule merges them. */
  async #mergedBelow(
    seeks: readonly ParentSeek[],
    order: Order,
    limit: number,
  ): Promise<readonly (readonly unknown[] | Error)[] | null> {
    const parents = Object.keys(seeks[0]?.parent ?? {});
    for (const { by, all } of this.#parts.merges) {
      if (!("by" in by)) continue;
      const chooser = by.rest === ALWAYS ? await all() : this;
      const choice = MergeChoice.of(chooser.#shape);
      const among = await choice.amongBelow(chooser.#nested, by, parents, order, limit);
      if (among !== null) return itemsBelow(await (await all()).#selected(), seeks, order, limit, among);
    }
    return null;
  }

  async countBelow(given: readonly ParentKey[], cap: number | null): Promise<readonly (number | Error)[]> {
    if (!this.#isReady) return (await this["~decided"]()).countBelow(given, cap);
    const parents = given.map((parent) => this.#encoded(parent));
    const cache = this.#parts.totalsCache;
    if (cache === undefined || cap !== null) return countsBelow(this.#nested, parents, cap);
    const { sql, parameters } = this.#source;
    const queue = new BatchQueue<ParentKey, number>((missing) => countsBelow(this.#nested, missing, null));
    const count = (parent: ParentKey): Promise<number> =>
      cache.get(exactJson([sql, parameters, parent]), () => queue.add(parent));
    return Promise.all(parents.map((parent) => count(parent).catch((error: Error) => error)));
  }

  #encoded(parent: ParentKey): ParentKey {
    const { encode } = this.#parts.origin;
    return Object.fromEntries(Object.entries(parent).map(([field, value]) => [field, encode(field, value)]));
  }

  /** @internal The query with its shape, to explain its statements. */
  get "~source"(): NestedSource {
    return this.#nested;
  }

  /** @internal The parts of its rules whose rows can be read value by value. */
  get "~splits"(): readonly Split[] {
    return this.#parts.merges.flatMap(({ by }) => ("by" in by ? [by] : []));
  }

  get #nested(): NestedSource {
    return {
      query: this.#parts.query,
      shape: this.#shape,
      parameters: this.#source.parameters,
      uniqueKey: this.uniqueKey,
      selection: null,
    };
  }

  /** The source of pages, with the selected columns. */
  async #selected(): Promise<NestedSource> {
    const nested = this.#nested;
    return this.#parts.columns === null
      ? nested
      : { ...nested, selection: await nested.shape.selection(this.#parts.query, this.#parts.columns) };
  }

  async #seek(order: Order, key: KeyTuple | null, limit: number): Promise<readonly T[] | null> {
    for (const { by, all } of this.#parts.merges) {
      // Without other conditions, the choice needs no more than the list that would be merged.
      const chooser = "by" in by && by.rest !== ALWAYS ? this : await all();
      const choice = MergeChoice.of(chooser.#shape);
      const among = "by" in by ? await choice.amongFor(chooser.#nested, by, order, limit) : by;
      if (among === null) continue;
      const found = await itemsAmong(await (await all()).#selected(), among, order, key, limit);
      if (found !== "too many") return found as readonly T[] | null;
    }
    const shape = this.#shape;
    const known = shape.columns(this.#parts.query, order, this.uniqueKey);
    const columns = "then" in known ? await known : known;
    const values = key === null ? [] : keyValues(shape.dialect, columns, key);
    const isNull = key === null ? null : key.map((value) => value === null);
    const chosen = this.#parts.columns === null ? null : shape.selection(this.#parts.query, this.#parts.columns);
    const selection = isPromise(chosen) ? await chosen : chosen;
    const statement = shape.statement(this.#parts.query, order, columns, isNull, limit, selection);
    try {
      const rows = await statement.run(this.#parts.query, this.#source.parameters, values, selection !== null);
      return keyedItems(rows, columns, shape.dialect, selection) as readonly unknown[] as readonly T[] | null;
    } catch (error) {
      throw (key === null ? null : misfitOf(error)) ?? error;
    }
  }

  async #forget(): Promise<void> {
    QueryShape.forget(this.#source.sql, this.#parts.origin);
    for (const { all } of this.#parts.merges) await (await all()).#forget();
  }

  async #count(cap: number | null): Promise<number> {
    const [row] = await this.#shape.count(this.#parts.query, cap).run(this.#parts.query, this.#source.parameters, []);
    return Number(row?.["total"]);
  }

  get #source(): Source {
    const { guard, query } = this.#parts;
    return (this.#parts.source ??= sourceOf(guard === null ? query : query.withPlugin(AS_WRITTEN)));
  }

  get #shape(): QueryShape {
    return QueryShape.of(this.#source.sql, this.#parts.origin);
  }
}

/**
 * The options that a table without `id` needs. TypeScript checks the columns, and the catalogue is read when the list
 * is first read.
 */
export type TableHandlerArguments<Columns, T> = "id" extends keyof Columns
  ? [options?: TableHandlerOptions<T, Extract<keyof T | keyof Columns, string>>]
  : [
      options: TableHandlerOptions<T, Extract<keyof T | keyof Columns, string>> &
        Required<Pick<TableHandlerOptions<T>, "uniqueKey">>,
    ];

/**
 * Returns the rows of a Kysely query as a list source, on the query's executor: a transaction or the pool.
 *
 * With a cursor strategy and an index on the columns of the order, a page costs the same at any depth. The strategy
 * sets that order: a query that already has one is rejected when it is first read. By offset, the query's own order is
 * used, and far pages are read from the other end.
 *
 * @example
 * ```ts
 * import { Kysely, PostgresDialect } from "kysely";
 * import { Pool } from "pg";
 * import { PorticoApp } from "portico";
 * import { CursorPagination } from "portico/pagination";
 * import { namedStatements, tableHandler } from "portico/sql";
 *
 * interface Tables {
 *   books: { id: string; title: string; published_at: string };
 * }
 * const dialect = new PostgresDialect({ pool: namedStatements(new Pool()) });
 * const database = new Kysely<Tables>({ dialect });
 * const newest = new CursorPagination({ order: [["published_at", "desc"], ["id", "desc"]] });
 *
 * new PorticoApp().get("/books", ({ response }) =>
 *   response.apaginate(tableHandler(database.selectFrom("books").selectAll()), { strategy: newest }),
 * );
 * ```
 */
export function tableHandler<DB, TB extends keyof DB, T>(
  query: SelectQueryBuilder<DB, TB, T>,
  ...[options]: TableHandlerArguments<DB[TB], T>
): TableHandler<T, Extract<keyof T | keyof DB[TB], string>> {
  return TableHandler["~of"](query as AnyQuery, options);
}

/** The parts of a list. One that is restricted or selects columns shares all but a few. */
interface Parts<T, C extends string> {
  readonly query: AnyQuery;
  readonly origin: QueryOrigin;
  /** The query compiled, once it was needed. */
  source: Source | undefined;
  /** The guard whose rules the query does not have yet; `null` if there is none, or once it has them. */
  readonly guard: Guard | null;
  /** The list with the rules of its last caller. */
  last: { readonly rules: GuardedList; readonly list: TableHandler<T, C> } | undefined;
  readonly uniqueKey: readonly string[];
  readonly totalsCache: TotalsCache | undefined;
  readonly name: string | undefined;
  readonly maxOffset: number | undefined;
  readonly maxSkipped: number | undefined;
  /** The conditions by whose values pages may be merged. */
  readonly merges: readonly Merge<T, C>[];
  /** The columns that pages are read with; `null` for all of them. */
  readonly columns: readonly string[] | null;
  /** The conditions whose columns only the catalogue can tell, and the list without them. */
  readonly later: { readonly from: TableHandler<T, C>; readonly conditions: readonly Condition[] } | null;
  /** Whether a rule or a filter has left rows out. */
  readonly isRestricted: boolean;
}

/** The values of `among`, or a rule's part. */
interface Merge<T, C extends string> {
  readonly by: Among | Split;
  /** The list without that condition. Few requests need it, so it is only made for them. */
  readonly all: () => Promise<TableHandler<T, C>>;
}

interface Source {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The author's query, and the guard of its database, whose rules it does not have yet. */
function guardedSource(query: AnyQuery): { readonly source: Source; readonly guard: Guard | null } {
  const limited = query.limit(1);
  const compiled = limited.withPlugin(AS_WRITTEN).compile();
  const guard = guardOf(compiled);
  if (guard !== null && compiled.sql.includes(RELATED)) checkAliases(limited.toOperationNode());
  return { source: sourceIn(compiled), guard };
}

/** The author's query. Its text is the key of all statements built from it. It has a limit, whose parameter tells the dialects apart. */
function sourceOf(query: AnyQuery): Source {
  return sourceIn(query.limit(1).compile());
}

function sourceIn({ sql, parameters }: CompiledQuery): Source {
  return { sql, parameters: parameters.slice(0, -1) };
}

/** PostgreSQL skips this many rows in about a millisecond, but needs seconds for two million. */
const MAX_SKIPPED = 10_000;
const BY_ID: readonly string[] = ["id"];

const tableRules = {
  name: text,
  uniqueKey: columnList,
  maxOffset: orNull(wholeNumber),
  totalsCache: withMethod<TotalsCache>("the result of totalsCache()", "get"),
  among: amongRule,
};

const NO_OPTIONS = resolveOptions("tableHandler", {}, tableRules);
