import type { SelectQueryBuilder } from "kysely";
import { ConfigurationError } from "../core/configuration-error.ts";
import { listOf, orNull, resolveOptions, rule, text, wholeNumber } from "../core/resolve-options.ts";
import {
  AsyncDataHandler,
  type Capping,
  type Deep,
  type Estimating,
  type FetchContext,
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
import { isHidden, textColumn } from "./seek-statement.ts";
import type { TotalsCache } from "./totals-cache.ts";

export interface TableHandlerOptions<Row> {
  /** Scope of the list's cursors. @default the table */
  readonly name?: string;
  /** Columns that no two rows share. @default ["id"] */
  readonly uniqueKey?: readonly Extract<keyof Row, string>[];
  /**
   * Offsets beyond it are refused before a statement is sent. By default a page is refused when more than 10,000 rows would be
   * skipped to reach it, from the nearer end where the rows are counted; `null` refuses none. Cursors know no depth.
   * @default 10,000 skipped rows
   */
  readonly maxOffset?: number | null;
  /** Keeps exact counts for a while. @default none */
  readonly totalsCache?: TotalsCache;
}

type Row = Record<string, unknown>;

/** The rows of a query, as `tableHandler` makes it. `C` names the columns that they can be sorted by beside their own. */
export class TableHandler<T, C extends string = Extract<keyof T, string>>
  extends AsyncDataHandler<T>
  implements Seekable<T>, Estimating, Capping, Deep, Sorting<C>
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

  /** `tableHandler` calls it, and knows the types. */
  constructor(query: AnyQuery, options?: TableHandlerOptions<T>) {
    super();
    const { name, uniqueKey, maxOffset, totalsCache } =
      options === undefined ? NO_OPTIONS : resolveOptions("tableHandler", options, tableRules);
    if (typeof (query as AnyQuery | null)?.toOperationNode !== "function")
      throw new ConfigurationError("tableHandler", "takes a select query of Kysely, not yet executed");
    const { limit, offset } = query.toOperationNode();
    if (limit !== undefined || offset !== undefined)
      throw new ConfigurationError("tableHandler", "takes a query without a limit or an offset: the strategy has them");
    if (maxOffset === undefined) this.maxSkipped = MOST_SKIPPED;
    else if (maxOffset !== null) this.maxOffset = maxOffset;
    this.uniqueKey = uniqueKey ?? BY_ID;
    this.#query = query;
    this.#totalsCache = totalsCache;
    const shape = this.#shape;
    shape.declare(query, this.uniqueKey);
    const scope = name ?? shape.tableOf(query);
    if (scope !== undefined) this.name = scope;
  }

  /**
   * Asks the catalogue whether the columns of `uniqueKey` are there. Throws `ConfigurationError` for one that is not; a page
   * of the list would, too. Call it in `app.onStart` to know before the first request.
   */
  async check(): Promise<void> {
    await this.#shape.check(this.#query, this.uniqueKey);
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
      // Perhaps the unique key is not there: then that is the clearer word. Inside of a transaction that has failed nobody
      // can be asked.
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
    // A null where the catalogue knows none: it has changed, so it is asked again.
    QueryShape.forget(this.#source.sql);
    return (await this.#seek(order, seek.key, limit)) ?? [];
  }

  async #seek(order: Order, key: KeyTuple | null, limit: number): Promise<readonly T[] | null> {
    const shape = this.#shape;
    const known = shape.columns(this.#query, order, this.uniqueKey);
    const columns = "then" in known ? await known : known;
    const values = key === null ? [] : driverValues(shape, columns, key);
    const isNull = key === null ? null : key.map((value) => value === null);
    const rows = await shape
      .statement(this.#query, order, columns, isNull, limit)
      .run(this.#query, this.#source.parameters, values)
      .catch((error: unknown) => {
        throw key !== null && isDataException(error)
          ? // Without the database's sentence, which repeats the value.
            new KeyMisfit(`a key does not fit its column (SQLSTATE ${(error as { code: string }).code})`)
          : error;
      });
    return hasUnexpectedNull(rows, columns)
      ? null
      : (itemsOf(rows, columns, shape) as readonly unknown[] as readonly T[]);
  }

  async #count(cap: number | null): Promise<number> {
    const [row] = await this.#shape.count(this.#query, cap).run(this.#query, this.#source.parameters, []);
    return Number(row?.["total"]);
  }

  /**
   * The author's query, compiled once: its text is the key to all statements made of it. With a limit, whose parameter
   * tells the dialects apart.
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

/** What a table without `id` needs. The checker knows the columns; the catalogue is asked when the list is first read. */
export type TableHandlerArguments<Columns, T> = "id" extends keyof Columns
  ? [options?: TableHandlerOptions<T>]
  : [options: TableHandlerOptions<T> & Required<Pick<TableHandlerOptions<T>, "uniqueKey">>];

/**
 * The rows of a Kysely query as the source of a list, on the executor that the query has: a transaction, or the pool.
 *
 * With a cursor strategy a page costs the same at any depth where an index has the columns of the order; the strategy has
 * that order, and a query with one of its own is refused when it is first read. By offset, the order is that of the query;
 * far pages are read from the other end.
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

/** PostgreSQL skips so many rows in about a millisecond, and two million in seconds. */
const MOST_SKIPPED = 10_000;
const BY_ID: readonly string[] = ["id"];

const tableRules = {
  name: text,
  uniqueKey: listOf<string>("a list of columns", (column) => typeof column === "string"),
  maxOffset: orNull(wholeNumber),
  totalsCache: rule<TotalsCache>(
    "what totalsCache() gives",
    (value) => typeof (value as TotalsCache | null)?.get === "function",
  ),
};

const NO_OPTIONS = resolveOptions("tableHandler", {}, tableRules);

function driverValues({ dialect }: QueryShape, columns: readonly KeyColumn[], key: KeyTuple): readonly unknown[] {
  return columns.map((column, index) => {
    const value = driverValue(dialect, column, key[index] ?? null);
    if (value === undefined) throw new KeyMisfit("a key does not fit its column");
    return value;
  });
}

/** PostgreSQL's class 22: a text that is no number, no time, or out of range. */
function isDataException(error: unknown): boolean {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^22[0-9A-Z]{3}$/.test(code);
}

function hasUnexpectedNull(rows: readonly Row[], columns: readonly KeyColumn[]): boolean {
  for (const [index, { isNullable }] of columns.entries()) {
    const name = textColumn(index);
    if (!isNullable && rows.some((row) => row[name] === null)) return true;
  }
  return false;
}

/** The rows as the author selected them, with their keys on the list. */
function itemsOf(rows: readonly Row[], columns: readonly KeyColumn[], { dialect }: QueryShape): readonly Row[] {
  const visible = Object.keys(rows[0] ?? {}).filter((column) => !isHidden(column));
  // Of one shape from the start: copies of it are four times as fast as taking the hidden columns away.
  const blank: Row = {};
  for (const column of visible) blank[column] = null;
  const items = rows.map((row) => {
    const item = { ...blank };
    for (const column of visible) item[column] = row[column];
    return item;
  });
  const keyAt = (index: number): KeyTuple =>
    columns.map((_column, at) => keyValueFrom(dialect, rows[index]?.[textColumn(at)]));
  return Object.defineProperty(items, KEYS, { value: keyAt });
}

function textOf(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
