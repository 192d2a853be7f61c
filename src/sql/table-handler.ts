import type { SelectQueryBuilder } from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import { listOf, optionRule, orNull, resolveOptions, text, wholeNumber } from "../core/resolve-options.ts";
import type { Condition } from "../pagination/condition.ts";
import {
  AsyncDataHandler,
  type Capping,
  type Deep,
  type Estimating,
  type FetchContext,
  type Scopable,
  type Seekable,
  type SeekRequest,
  type Sorting,
} from "../pagination/data-handler.ts";
import { KEYS, KeyMisfit, type KeyTuple } from "../pagination/key-tuple.ts";
import { type Order, reversed } from "../pagination/order.ts";
import type { AnyQuery } from "./any-query.ts";
import { estimateRows } from "./estimate-rows.ts";
import { driverValue, type KeyColumn, keyValueFrom } from "./key-column.ts";
import { QueryShape } from "./query-shape.ts";
import { rowsAt } from "./rows-at.ts";
import { scopedQuery } from "./scoped-query.ts";
import { isHidden, textColumn } from "./seek-statement.ts";
import type { TotalsCache } from "./totals-cache.ts";
import { withClosedWhere } from "./with-closed-where.ts";

export interface TableHandlerOptions<Row> {
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
}

type Row = Record<string, unknown>;

/**
 * The rows of a query, created by `tableHandler`. `C` names the columns that they can be sorted by in addition to their
 * own.
 */
export class TableHandler<T, C extends string = Extract<keyof T, string>>
  extends AsyncDataHandler<T>
  implements Seekable<T>, Estimating, Capping, Deep, Scopable<T>, Sorting<C>
{
  declare readonly "~columns"?: (column: C) => void;
  declare readonly name?: string;
  declare readonly maxOffset?: number;
  declare readonly maxSkipped?: number;
  readonly uniqueKey: readonly string[];
  readonly endsWhenShort = true;
  readonly #query: AnyQuery;
  readonly #totalsCache: TotalsCache | undefined;
  #compiled: { readonly sql: string; readonly parameters: readonly unknown[] } | undefined;

  /**
   * Called by `tableHandler`, which knows the types.
   *
   * @param origin the handler that this one restricts, whose query and options have been checked
   */
  constructor(query: AnyQuery, options?: TableHandlerOptions<T>, origin?: TableHandler<T, C>) {
    super();
    if (origin !== undefined) {
      this.#query = query;
      this.#totalsCache = origin.#totalsCache;
      this.uniqueKey = origin.uniqueKey;
      if (origin.name !== undefined) this.name = origin.name;
      if (origin.maxOffset !== undefined) this.maxOffset = origin.maxOffset;
      if (origin.maxSkipped !== undefined) this.maxSkipped = origin.maxSkipped;
      return;
    }
    const { name, uniqueKey, maxOffset, totalsCache } =
      options === undefined ? NO_OPTIONS : resolveOptions("tableHandler", options, tableRules);
    if (typeof (query as AnyQuery | null)?.toOperationNode !== "function")
      throw new ConfigurationError("tableHandler", "requires a Kysely select query that has not been executed");
    const { limit, offset } = query.toOperationNode();
    if (limit !== undefined || offset !== undefined)
      throw new ConfigurationError("tableHandler", "requires a query without LIMIT and OFFSET: the strategy sets them");
    if (maxOffset === undefined) this.maxSkipped = MOST_SKIPPED;
    else if (maxOffset !== null) this.maxOffset = maxOffset;
    this.uniqueKey = uniqueKey ?? BY_ID;
    this.#query = withClosedWhere(query);
    this.#totalsCache = totalsCache;
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
    return new TableHandler<T, C>(scopedQuery(this.#query, this.#shape, condition), undefined, this);
  }

  async getTotalItems(): Promise<number> {
    const { sql, parameters } = this.#source;
    if (this.#totalsCache === undefined) return this.#count(null);
    return this.#totalsCache.get(JSON.stringify([sql, parameters], textOf), () => this.#count(null));
  }

  countUpTo(cap: number): Promise<number> {
    return this.#count(cap);
  }

  async estimateTotalItems(): Promise<number> {
    return (await estimateRows(this.#query, this.#shape.dialect)) ?? (await this.#count(null));
  }

  async getItems(offset: number, limit: number, context?: FetchContext): Promise<readonly T[]> {
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
    const order = seek.direction === "forward" ? seek.order : reversed(seek.order);
    const found = await this.#seek(order, seek.key, limit);
    if (found !== null) return found;
    // A null in a column that the catalogue says is never null means that the table has changed, so the catalogue is
    // read again.
    QueryShape.forget(this.#source.sql);
    return (await this.#seek(order, seek.key, limit)) ?? [];
  }

  async #seek(order: Order, key: KeyTuple | null, limit: number): Promise<readonly T[] | null> {
    const shape = this.#shape;
    const known = shape.columns(this.#query, order, this.uniqueKey);
    const columns = "then" in known ? await known : known;
    const values = key === null ? [] : driverValues(shape, columns, key);
    const isNull = key === null ? null : key.map((value) => value === null);
    const statement = shape.statement(this.#query, order, columns, isNull, limit);
    try {
      const rows = await statement.run(this.#query, this.#source.parameters, values);
      return itemsOf(rows, columns, shape) as readonly unknown[] as readonly T[] | null;
    } catch (error) {
      throw key !== null && isDataException(error)
        ? // The database's message is left out, because it repeats the value.
          new KeyMisfit(`a cursor value does not fit its column (SQLSTATE ${(error as { code: string }).code})`)
        : error;
    }
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
    return QueryShape.of(this.#source.sql);
  }
}

/**
 * The options that a table without `id` needs. TypeScript checks the columns, and the catalogue is read when the list
 * is first read.
 */
export type TableHandlerArguments<Columns, T> = "id" extends keyof Columns
  ? [options?: TableHandlerOptions<T>]
  : [options: TableHandlerOptions<T> & Required<Pick<TableHandlerOptions<T>, "uniqueKey">>];

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
  uniqueKey: listOf<string>("a list of columns", (column) => typeof column === "string"),
  maxOffset: orNull(wholeNumber),
  totalsCache: optionRule<TotalsCache>(
    "the result of totalsCache()",
    (value) => typeof (value as TotalsCache | null)?.get === "function",
  ),
};

const NO_OPTIONS = resolveOptions("tableHandler", {}, tableRules);

function driverValues({ dialect }: QueryShape, columns: readonly KeyColumn[], key: KeyTuple): readonly unknown[] {
  return columns.map((column, index) => {
    const value = driverValue(dialect, column, key[index] ?? null);
    if (value === undefined) throw new KeyMisfit("a cursor value does not fit its column");
    return value;
  });
}

/** PostgreSQL's class 22: a text that is not a valid number or time, or is out of range. */
function isDataException(error: unknown): boolean {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^22[0-9A-Z]{3}$/.test(code);
}

/**
 * Returns the rows as the author selected them, with their keys attached to the list, or `null` if there is a null in a
 * column that the catalogue says is never null.
 */
function itemsOf(rows: readonly Row[], columns: readonly KeyColumn[], { dialect }: QueryShape): readonly Row[] | null {
  const texts = columns.map((_column, index) => textColumn(index));
  const required = texts.filter((_text, index) => columns[index]?.isNullable === false);
  const visible = Object.keys(rows[0] ?? {}).filter((column) => !isHidden(column));
  // All objects have one shape from the start: copying it is four times as fast as deleting the hidden columns.
  const blank: Row = {};
  for (const column of visible) blank[column] = null;
  const items: Row[] = [];
  for (const row of rows) {
    for (const text of required) if (row[text] === null) return null;
    const item = { ...blank };
    for (const column of visible) item[column] = row[column];
    items.push(item);
  }
  const keyAt = (index: number): KeyTuple => texts.map((text) => keyValueFrom(dialect, rows[index]?.[text]));
  return Object.defineProperty(items, KEYS, { value: keyAt });
}

/** Keeps apart what JSON would not: a bigint from a text, and infinity from null. */
function textOf(_key: string, value: unknown): unknown {
  const isExact = typeof value !== "bigint" && (typeof value !== "number" || Number.isFinite(value));
  return isExact ? value : { [typeof value]: String(value) };
}
