import type { SelectQueryBuilder } from "kysely";
import { BatchQueue } from "../core/batch-queue.ts";
import { ConfigurationError } from "../core/configuration-error.ts";
import { isPromise } from "../core/maybe-promise.ts";
import { columnList, optionRule, orNull, resolveOptions, text, wholeNumber } from "../core/resolve-options.ts";
import { type Condition, type ConditionValue, isIn, loosely } from "../pagination/condition.ts";
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
} from "../pagination/data-handler.ts";
import type { KeyTuple } from "../pagination/keys/key-tuple.ts";
import { type Order, reversed } from "../pagination/order.ts";
import type { AnyQuery } from "./any-query.ts";
import { comparedFields } from "./conditions/condition-expression.ts";
import { estimateRows } from "./estimate-rows.ts";
import { exactJson } from "./exact-json.ts";
import { isDataException, keyedItems, keyValues, misfitOf } from "./keyed-items.ts";
import { type Among, amongRule, itemsAmong } from "./nested/items-among.ts";
import { countsBelow, itemsBelow } from "./nested/items-below.ts";
import type { NestedSource } from "./nested/nested-reading.ts";
import { KYSELY, type QueryOrigin } from "./query-origin.ts";
import { QueryShape } from "./query-shape.ts";
import { rowsAt } from "./rows-at.ts";
import { checkRestrictable, scopedQuery } from "./scoped-query.ts";
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
  readonly #query: AnyQuery;
  readonly #origin: QueryOrigin;
  readonly #totalsCache: TotalsCache | undefined;
  /** The values of `among`, and the list without them. */
  readonly #among: { readonly among: Among; readonly all: TableHandler<T, C> } | undefined;
  /** The columns that pages are read with; `null` for all of them. */
  readonly #columns: readonly string[] | null;
  /** The conditions whose columns only the catalogue can tell, and the list without them. */
  readonly #later: { readonly from: TableHandler<T, C>; readonly conditions: readonly Condition[] } | null;
  /** Whether a rule or a filter has left rows out. */
  readonly #isRestricted: boolean;
  #compiled: { readonly sql: string; readonly parameters: readonly unknown[] } | undefined;

  /**
   * Called by `tableHandler` and `drizzleHandler`, which know the types.
   *
   * @param from the handler that this one restricts, whose query and options have been checked; or the origin of the query
   */
  constructor(
    query: AnyQuery,
    options?: TableHandlerOptions<T, C>,
    from: TableHandler<T, C> | QueryOrigin = KYSELY,
    among?: { readonly among: Among; readonly all: TableHandler<T, C> },
    columns: readonly string[] | null = from instanceof TableHandler ? from.#columns : null,
    later: { readonly from: TableHandler<T, C>; readonly conditions: readonly Condition[] } | null = null,
  ) {
    super();
    this.#columns = columns;
    this.#later = later;
    this.#isRestricted = from instanceof TableHandler && (from.#isRestricted || query !== from.#query);
    if (from instanceof TableHandler) {
      this.#query = query;
      this.#origin = from.#origin;
      this.#among = among;
      this.#totalsCache = from.#totalsCache;
      this.uniqueKey = from.uniqueKey;
      if (from.name !== undefined) this.name = from.name;
      if (from.maxOffset !== undefined) this.maxOffset = from.maxOffset;
      if (from.maxSkipped !== undefined) this.maxSkipped = from.maxSkipped;
      return;
    }
    this.#origin = from;
    const { label } = from;
    const {
      name,
      uniqueKey,
      maxOffset,
      totalsCache,
      among: given,
    } = options === undefined ? NO_OPTIONS : resolveOptions(label, options, tableRules);
    if (typeof (query as AnyQuery | null)?.toOperationNode !== "function")
      throw new ConfigurationError("tableHandler", "requires a Kysely select query that has not been executed");
    const { limit, offset } = query.toOperationNode();
    if (limit !== undefined || offset !== undefined)
      throw new ConfigurationError(label, "requires a query without LIMIT and OFFSET: the strategy sets them");
    if (maxOffset === undefined) this.maxSkipped = MOST_SKIPPED;
    else if (maxOffset !== null) this.maxOffset = maxOffset;
    this.uniqueKey = uniqueKey ?? BY_ID;
    this.#query = withClosedWhere(query);
    this.#totalsCache = totalsCache;
    if (given !== undefined) {
      const { among: _among, ...others } = options as TableHandlerOptions<T, C>;
      const { column } = given;
      const values = given.values.map((value) => from.encode(column, value));
      this.#among = { among: { column, values }, all: new TableHandler<T, C>(query, others, from) };
      this.#query = scopedQuery(this.#query, this.#among.all.#shape, loosely(isIn(given.column, given.values)));
    }
    const shape = this.#shape;
    shape.declare(query, this.uniqueKey);
    const scope = name ?? shape.tableOf(query);
    if (scope !== undefined) this.name = scope;
  }

  /**
   * Checks in the catalogue whether the columns of `uniqueKey` exist. Throws `ConfigurationError` for a missing one, as
   * the first page of the list would. Call it in `app.onStart` to find a mistake before the first request.
   */
  async check(): Promise<void> {
    await this.#shape.check(this.#query, this.uniqueKey);
  }

  /**
   * Returns the list of the rows that meet the condition. A column is that of the selected field with its name, or else
   * of the query's first table. Throws `ConfigurationError` if the query groups or combines rows: select from it as a
   * subquery.
   */
  scopedTo(condition: Condition): TableHandler<T, C> {
    const among = this.#among && { ...this.#among, all: this.#among.all.scopedTo(condition) };
    const query = this.#query;
    const shape = this.#shape;
    if (this.#later === null && shape.isDecided(query, comparedFields(condition["~condition"])))
      return new TableHandler<T, C>(scopedQuery(query, shape, condition), undefined, this, among);
    checkRestrictable(query, shape);
    const conditions = [...(this.#later?.conditions ?? []), condition];
    const later = { from: this.#later?.from ?? this, conditions };
    return new TableHandler<T, C>(query, undefined, this, among, this.#columns, later);
  }

  /** @internal The list with all of its conditions, for which the catalogue may have to be read. */
  async "~decided"(): Promise<TableHandler<T, C>> {
    if (this.#later === null) return this;
    let decided = this.#later.from;
    for (const condition of this.#later.conditions) {
      await decided.#shape.learn(decided.#query);
      const all = decided.#among?.all;
      if (all !== undefined) await all.#shape.learn(all.#query);
      decided = decided.#scopedNow(condition);
    }
    return this.#columns === null ? decided : decided.selecting(this.#columns);
  }

  #scopedNow(condition: Condition): TableHandler<T, C> {
    const among = this.#among && { ...this.#among, all: this.#among.all.#scopedNow(condition) };
    return new TableHandler<T, C>(scopedQuery(this.#query, this.#shape, condition), undefined, this, among);
  }

  /**
   * Returns the list with only these columns in its rows, if the query can be read without the others. Otherwise, its rows
   * have all columns. Reading a column that was left out throws `TypeError`.
   */
  selecting(columns: readonly string[]): TableHandler<T, C> {
    // Drizzle maps rows by the order of its fields.
    if (this.#origin !== KYSELY) return this;
    const sorted = [...new Set(columns)].toSorted();
    const among = this.#among && { ...this.#among, all: this.#among.all.selecting(sorted) };
    return new TableHandler<T, C>(this.#query, undefined, this, among, sorted, this.#later);
  }

  isMisfit(error: unknown): boolean {
    return isDataException(error);
  }

  async getTotalItems(): Promise<number> {
    if (this.#later !== null) return (await this["~decided"]()).getTotalItems();
    const { sql, parameters } = this.#source;
    if (this.#totalsCache === undefined) return this.#count(null);
    return this.#totalsCache.get(exactJson([sql, parameters]), () => this.#count(null));
  }

  async countUpTo(cap: number): Promise<number> {
    return (await this["~decided"]()).#count(cap);
  }

  async estimateTotalItems(): Promise<number> {
    if (this.#later !== null) return (await this["~decided"]()).estimateTotalItems();
    // The statistics of a planner cover all rows, so an estimate would tell about those that a rule or a filter leaves out.
    if (this.#isRestricted) return this.#count(null);
    return (await estimateRows(this.#query, this.#shape.dialect)) ?? (await this.#count(null));
  }

  async getItems(offset: number, limit: number, context?: FetchContext): Promise<readonly T[]> {
    if (this.#later !== null) return (await this["~decided"]()).getItems(offset, limit, context);
    try {
      return (await rowsAt(this.#query, this.uniqueKey, offset, limit, context?.totalItems)) as readonly T[];
    } catch (error) {
      // If the unique key does not exist, that error is clearer. Inside a failed transaction, the catalogue cannot be
      // read.
      await this.check().catch((reason: unknown) => {
        throw reason instanceof ConfigurationError ? reason : error;
      });
      throw error;
    }
  }

  async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly T[]> {
    if (this.#later !== null) return (await this["~decided"]()).getItemsAfter(seek, limit);
    const order = seek.direction === "forward" ? seek.order : reversed(seek.order);
    const found = await this.#seek(order, seek.key, limit);
    if (found !== null) return found;
    // A null in a column that the catalogue says is never null means that the table has changed, so the catalogue is
    // read again.
    this.#forget();
    return (await this.#seek(order, seek.key, limit)) ?? [];
  }

  async getItemsBelow(
    seeks: readonly ParentSeek[],
    { order, direction }: Pick<SeekRequest, "order" | "direction">,
    limit: number,
  ): Promise<readonly (readonly T[] | Error)[]> {
    if (this.#later !== null) return (await this["~decided"]()).getItemsBelow(seeks, { order, direction }, limit);
    const directed = direction === "forward" ? order : reversed(order);
    const encoded = seeks.map(({ parent, key }) => ({ parent: this.#encoded(parent), key }));
    const found = await itemsBelow(await this.#selected(), encoded, directed, limit);
    if (found !== null) return found as readonly (readonly T[] | Error)[];
    this.#forget();
    return ((await itemsBelow(await this.#selected(), encoded, directed, limit)) ?? []) as readonly (
      | readonly T[]
      | Error
    )[];
  }

  async countBelow(given: readonly ParentKey[], cap: number | null): Promise<readonly (number | Error)[]> {
    if (this.#later !== null) return (await this["~decided"]()).countBelow(given, cap);
    const parents = given.map((parent) => this.#encoded(parent));
    const cache = this.#totalsCache;
    if (cache === undefined || cap !== null) return countsBelow(this.#nested, parents, cap);
    const { sql, parameters } = this.#source;
    const queue = new BatchQueue<ParentKey, number>((missing) => countsBelow(this.#nested, missing, null));
    const count = (parent: ParentKey): Promise<number> =>
      cache.get(exactJson([sql, parameters, parent]), () => queue.add(parent));
    return Promise.all(parents.map((parent) => count(parent).catch((error: Error) => error)));
  }

  #encoded(parent: ParentKey): ParentKey {
    const { encode } = this.#origin;
    return Object.fromEntries(Object.entries(parent).map(([field, value]) => [field, encode(field, value)]));
  }

  /** @internal The query with its shape, to explain its statements. */
  get "~source"(): NestedSource {
    return this.#nested;
  }

  get #nested(): NestedSource {
    return {
      query: this.#query,
      shape: this.#shape,
      parameters: this.#source.parameters,
      uniqueKey: this.uniqueKey,
      selection: null,
    };
  }

  /** The source of pages, with the selected columns. */
  async #selected(): Promise<NestedSource> {
    const nested = this.#nested;
    return this.#columns === null
      ? nested
      : { ...nested, selection: await nested.shape.selection(this.#query, this.#columns) };
  }

  async #seek(order: Order, key: KeyTuple | null, limit: number): Promise<readonly T[] | null> {
    if (this.#among !== undefined) {
      const found = await itemsAmong(await this.#among.all.#selected(), this.#among.among, order, key, limit);
      if (found !== "too many") return found as readonly T[] | null;
    }
    const shape = this.#shape;
    const known = shape.columns(this.#query, order, this.uniqueKey);
    const columns = "then" in known ? await known : known;
    const values = key === null ? [] : keyValues(shape.dialect, columns, key);
    const isNull = key === null ? null : key.map((value) => value === null);
    const chosen = this.#columns === null ? null : shape.selection(this.#query, this.#columns);
    const selection = isPromise(chosen) ? await chosen : chosen;
    const statement = shape.statement(this.#query, order, columns, isNull, limit, selection);
    try {
      const rows = await statement.run(this.#query, this.#source.parameters, values, selection !== null);
      return keyedItems(rows, columns, shape.dialect, selection) as readonly unknown[] as readonly T[] | null;
    } catch (error) {
      throw (key === null ? null : misfitOf(error)) ?? error;
    }
  }

  #forget(): void {
    QueryShape.forget(this.#source.sql, this.#origin);
    if (this.#among !== undefined) this.#among.all.#forget();
  }

  async #count(cap: number | null): Promise<number> {
    const [row] = await this.#shape.count(this.#query, cap).run(this.#query, this.#source.parameters, []);
    return Number(row?.["total"]);
  }

  /**
   * Compiles the author's query once. Its text is the key of all statements built from it. It has a limit, whose
   * parameter tells the dialects apart.
   */
  get #source(): { readonly sql: string; readonly parameters: readonly unknown[] } {
    if (this.#compiled === undefined) {
      const { sql, parameters } = this.#query.limit(1).compile();
      this.#compiled = { sql, parameters: parameters.slice(0, -1) };
    }
    return this.#compiled;
  }

  get #shape(): QueryShape {
    return QueryShape.of(this.#source.sql, this.#origin);
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
  return new TableHandler(query as AnyQuery, options);
}

/** PostgreSQL skips this many rows in about a millisecond, but needs seconds for two million. */
const MOST_SKIPPED = 10_000;
const BY_ID: readonly string[] = ["id"];

const tableRules = {
  name: text,
  uniqueKey: columnList,
  maxOffset: orNull(wholeNumber),
  totalsCache: optionRule<TotalsCache>(
    "the result of totalsCache()",
    (value) => typeof (value as TotalsCache | null)?.get === "function",
  ),
  among: amongRule,
};

const NO_OPTIONS = resolveOptions("tableHandler", {}, tableRules);
