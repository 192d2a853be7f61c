import { ConfigurationError } from "../../core/configuration-error.ts";
import {
  callable,
  integerFrom,
  type OptionRule,
  oneOf,
  optional,
  positiveInteger,
  resolveOptions,
  text,
} from "../../core/resolve-options.ts";
import { scopeDigest } from "../cursor/scope-digest.ts";
import { filterParameters } from "../filter/filter-parameters.ts";
import {
  type Filterable,
  type FilterColumns,
  type FilterFields,
  filterableRule,
  filterFields,
} from "../filter/filterable.ts";
import { type Totals, totalSchema, totalsRule } from "../handlers/totals.ts";
import { type NullPlacement, type Order, orderRule } from "../keys/order.ts";
import { LinkMaker, type Links } from "../query/links.ts";
import { InvalidCursorError } from "../query/pagination-error.ts";
import { type QueryParams, readSize, readText, type SizeLimits } from "../query/query-params.ts";
import {
  BasePaginationStrategy,
  linksSchema,
  type PageFacts,
  type PaginationOptions,
  paginationRules,
  presentLinks,
  type StrategyDescription,
  sizeLimits,
} from "./base-pagination-strategy.ts";
import { readSort, type Sortable, type SortLimits, sortableRule, sortLimits, sortParameter } from "./read-sort.ts";

export interface CursorBaseOptions extends PaginationOptions {
  /** The query parameter of the cursor. @default "cursor" */
  readonly cursorParam?: string;
  /** The query parameter of the page size. @default "page_size" */
  readonly pageSizeParam?: string;
  /** The page size if the request has none. @default 20 */
  readonly defaultPageSize?: number;
  /** The maximum page size. @default 100 */
  readonly maxPageSize?: number;
  /** How `total_items` is determined. @default "exact" over a list, else "none" */
  readonly totals?: Totals;
  /** How long a cursor is valid, in seconds. @default cursors never expire */
  readonly maxAgeSeconds?: number;
  /**
   * Reads a cursor that another server has given out: returns the values of the row in the columns of the order, with those of the
   * unique key at the end, or `null` if it can't. It is called for cursors that are not Portico's. Such a cursor is not encrypted, so
   * clients choose the position; rules and filters still decide about the rows. @default other cursors are rejected
   */
  readonly decodeCursor?: (cursor: string) => readonly (string | number | boolean | bigint | Date | null)[] | null;
  /** The query parameter that clients sort with, if there is `sortable`. @default "sort" */
  readonly sortParam?: string;
  /** The maximum number of columns that a client may sort by. @default 3 */
  readonly maxSortColumns?: number;
  /**
   * Where nulls come, in ascending and in descending order alike. It applies to the columns that a client sorts by, and
   * to columns of `order` that have no placement. @default the source decides
   */
  readonly nulls?: "first" | "last";
  /**
   * How many pages before and after the current one a response links to in `pagination.pages`, from 1 to 10. A response
   * then reads the rows of these pages too. @default no page bar
   */
  readonly pageBar?: number;
}
/** Set either `sortField` or `order`. @default sortField "id", ascending */
export type CursorOptions<C extends string = string, F extends Filterable = Filterable> = CursorBaseOptions & {
  /**
   * The columns that a client may sort by: `?sort=-priority,createdAt`. A list of columns, or an object from the names
   * that clients use to columns: `{ createdAt: "created_at" }`. Requests without it use the default order. A column that
   * clients cannot read is rejected at startup, unless it is declared as `{ column: "rank", public: true }`. @default none
   */
  readonly sortable?: Sortable<C>;
  /**
   * The filters that a client may use: `?genre=novel&price.lt=1000`. The names are those that clients use, and each one
   * has the type of its values, its operators, and a column if it has another name. A column that clients cannot read
   * needs `public: true`. @default none
   */
  readonly filterable?: F;
} & ({ readonly sortField?: C; readonly order?: never } | { readonly order: Order<C>; readonly sortField?: never });

export interface CursorMetadata {
  readonly total_items: number | null;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_more: boolean;
  readonly links: Links;
  /** The pages near this one, in list order, if the strategy has a `pageBar`. */
  readonly pages?: readonly PageLink[];
}

/** A page near the current one, by its distance: -1 is the previous page. */
export interface PageLink {
  readonly offset: number;
  readonly link: string;
}

/** The parsed parameters of a request for a cursor list. */
export interface CursorParameters {
  readonly cursor: string | null;
  readonly size: number;
  /** The requested order. It is absent if the request leaves the order to the strategy. */
  readonly order?: Order;
}

/**
 * Pages by cursor: `?cursor=...&page_size=20`. A cursor is encrypted and holds the key of a row, so inserts and deletes
 * elsewhere do not shift the pages. If the source can seek, a deep page costs as much as the first one.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { CursorPagination } from "portico/pagination";
 *
 * const books = [{ id: "1", published_at: "1815-12-23" }];
 * const newest = new CursorPagination({ order: [["published_at", "desc"], ["id", "desc"]] });
 * new PorticoApp().get("/books", ({ response }) => response.paginate(books, { strategy: newest }));
 *
 * // The client sorts and filters: ?sort=-publishedAt&publishedAt.gte=1800-01-01T00:00:00Z
 * const chosen = new CursorPagination({
 *   sortField: "id",
 *   sortable: { publishedAt: "published_at" },
 *   filterable: { publishedAt: { column: "published_at", type: "date", by: ["range"] } },
 * });
 * new PorticoApp().get("/books", ({ response }) => response.paginate(books, { strategy: chosen }));
 * ```
 */
export class CursorPagination<
  const C extends string = "id",
  const F extends Filterable = {},
> extends BasePaginationStrategy<CursorParameters, CursorMetadata, C | NoInfer<FilterColumns<F>>> {
  override readonly totals: Totals | undefined;
  override readonly outOfRange: "empty" | "error";
  override readonly linkHeader: boolean;
  /** @internal The declared order. The source adds its unique key. */
  readonly order: Order;
  /** @internal The placement of nulls in columns that do not place them. */
  readonly nulls: NullPlacement | undefined;
  /** @internal */
  readonly maxAgeSeconds: number | undefined;
  /** @internal */
  readonly decodeCursor: CursorBaseOptions["decodeCursor"];
  /** @internal */
  readonly size: SizeLimits;
  /** @internal */
  override readonly filters: FilterFields | null;
  /** @internal */
  override readonly sort: SortLimits | null;
  /** @internal How many pages in each direction a response links to. */
  readonly pageBar: number | null;
  readonly #cursorParam: string;
  readonly #sizeParam: string;
  readonly #dropped: readonly string[];
  readonly #scopes = new Map<string, Buffer>();

  constructor(options: CursorOptions<C, F> = {}) {
    super();
    const read = resolveOptions("CursorPagination", options, cursorRules);
    if (read.sortField !== undefined && read.order !== undefined)
      throw new ConfigurationError("CursorPagination", "accepts either sortField or order, not both");
    this.totals = read.totals;
    this.outOfRange = read.outOfRange;
    this.linkHeader = read.linkHeader;
    this.order = read.order ?? [[read.sortField ?? "id", "asc"]];
    this.nulls = read.nulls === undefined ? undefined : `nulls ${read.nulls}`;
    this.maxAgeSeconds = read.maxAgeSeconds;
    this.decodeCursor = read.decodeCursor;
    this.pageBar = read.pageBar ?? null;
    this.size = sizeLimits("CursorPagination.defaultPageSize", {
      least: 1,
      fallback: read.defaultPageSize,
      max: read.maxPageSize,
      overMax: read.overMax,
    });
    this.sort = sortLimits("CursorPagination", read);
    this.filters = filterFields("CursorPagination", read.filterable, {
      taken: [read.cursorParam, read.pageSizeParam, ...(this.sort === null ? [] : [this.sort.parameter])],
      omitFromLinks: read.omitFromLinks,
    });
    this.#cursorParam = read.cursorParam;
    this.#sizeParam = read.pageSizeParam;
    this.#dropped = [read.cursorParam, read.pageSizeParam, ...read.omitFromLinks];
  }

  override get positionParameter(): string {
    return this.#cursorParam;
  }

  /**
   * @internal Returns the scope that cursors of a list are bound to. It is cached if it does not depend on the request.
   *
   * @param rule the name of the list's authorization rule
   * @param filters the filters of the client as text
   */
  scopeOf(
    name: string,
    order: Order,
    cursorScope: Readonly<Record<string, unknown>> | undefined,
    rule: string | undefined,
    filters: string | null,
  ): Buffer {
    if (cursorScope !== undefined || filters !== null) return scopeDigest(name, order, cursorScope, rule, filters);
    const key = JSON.stringify([name, order, rule]);
    const known = this.#scopes.get(key) ?? scopeDigest(name, order, undefined, rule, null);
    if (this.#scopes.size < MAX_SCOPES) this.#scopes.set(key, known);
    return known;
  }

  override parseParameters(requestParams: QueryParams): CursorParameters {
    const cursor = readText(requestParams, this.#cursorParam);
    // An empty cursor is rejected too: a client that lost its cursor must not start again in a loop.
    if (cursor === "" || typeof cursor === "object") throw new InvalidCursorError({ parameter: this.#cursorParam });
    const order = this.sort === null ? undefined : readSort(requestParams, this.sort);
    const size = readSize(requestParams, this.#sizeParam, this.size);
    return { cursor: cursor ?? null, size, ...(order === undefined ? {} : { order }) };
  }

  /**
   * Returns how many items are skipped next to the cursor's position, in the cursor's direction, and how many are
   * returned. Skipped items are read from a source that can seek. A connection rejects a strategy that overrides it.
   */
  override calculateOffsetLimit({ size }: CursorParameters): readonly [offset: number, limit: number] {
    return [0, size];
  }

  override generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    baseUrl: string,
    requestParams: QueryParams,
    facts?: PageFacts,
  ): CursorMetadata {
    const { cursor, size } = this.parseParameters(requestParams);
    const { nextCursor = null, prevCursor = null, lastCursor = null } = facts ?? {};
    const maker = new LinkMaker(baseUrl, requestParams, facts?.search, this.#dropped);
    const sized = [this.#sizeParam, size] as const;
    const to = (place: string | null): string | null =>
      place === null ? null : maker.to([[this.#cursorParam, place], sized]);
    return {
      total_items: totalItems,
      page_size: size,
      cursor,
      next_cursor: nextCursor,
      prev_cursor: prevCursor,
      has_more: nextCursor !== null,
      links: presentLinks({
        first: maker.to([sized]),
        last: to(lastCursor),
        prev: to(prevCursor),
        next: to(nextCursor),
      }),
      ...(facts?.near === undefined
        ? {}
        : { pages: facts.near.map(({ offset, cursor: place }) => ({ offset, link: to(place) as string })) }),
    };
  }

  override describe(): StrategyDescription {
    const { fallback, max } = this.size;
    const cursor = { type: ["string", "null"] };
    return {
      parameters: [
        {
          name: this.#cursorParam,
          description:
            "The next_cursor or prev_cursor of another page, or the cursor in its links. Omit it for the first page.",
          schema: { type: "string", maxLength: 2048 },
        },
        {
          name: this.#sizeParam,
          description: "The number of items per page.",
          schema: { type: "integer", minimum: 1, maximum: max, default: fallback },
        },
        ...(this.sort === null ? [] : [sortParameter(this.sort)]),
        ...filterParameters(this.filters),
      ],
      metadata: {
        type: "object",
        properties: {
          total_items: totalSchema(this.totals),
          page_size: { type: "integer" },
          cursor,
          next_cursor: cursor,
          prev_cursor: cursor,
          has_more: { type: "boolean" },
          links: linksSchema("first", "last", "prev", "next"),
          ...(this.pageBar === null ? {} : { pages: PAGES }),
        },
        required: ["total_items", "page_size", "cursor", "next_cursor", "prev_cursor", "has_more", "links"],
      },
    };
  }
}

const MAX_SCOPES = 1_000;
const PAGES = {
  type: "array",
  description: "The pages near this one. An offset of -1 is the previous page.",
  items: {
    type: "object",
    properties: { offset: { type: "integer" }, link: { type: "string" } },
    required: ["offset", "link"],
  },
};

const cursorRules = {
  ...paginationRules,
  cursorParam: optional(text, "cursor"),
  pageSizeParam: optional(text, "page_size"),
  defaultPageSize: optional(positiveInteger, 20),
  maxPageSize: optional(positiveInteger, 100),
  decodeCursor: callable as OptionRule<NonNullable<CursorBaseOptions["decodeCursor"]>>,
  totals: totalsRule,
  maxAgeSeconds: positiveInteger,
  sortField: text,
  order: orderRule,
  sortable: sortableRule,
  filterable: filterableRule,
  sortParam: text,
  maxSortColumns: positiveInteger,
  pageBar: integerFrom(1, 10),
  nulls: oneOf("first", "last"),
};
