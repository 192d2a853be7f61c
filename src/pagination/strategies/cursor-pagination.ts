import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, positiveInteger, resolveOptions, text } from "../../core/resolve-options.ts";
import { scopeDigest } from "../cursor/scope-digest.ts";
import { LinkMaker, type Links } from "../links.ts";
import { type Order, orderRule } from "../order.ts";
import { InvalidCursorError } from "../pagination-error.ts";
import { type QueryParams, readSize, readText, type SizeLimits } from "../query-params.ts";
import { readSort, type SortLimits, sortableRule, sortLimits, sortParameter } from "../read-sort.ts";
import { type Totals, totalSchema, totalsRule } from "../totals.ts";
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
  /** The query parameter that clients sort with, if there is `sortable`. @default "sort" */
  readonly sortParam?: string;
  /** The maximum number of columns that a client may sort by. @default 3 */
  readonly maxSortColumns?: number;
}
/** Set either `sortField` or `order`. @default sortField "id", ascending */
export type CursorOptions<C extends string = string> = CursorBaseOptions & {
  /**
   * Columns that a client may sort by: `?sort=-priority,created_at`. Requests without it use the default order.
   * @default none
   */
  readonly sortable?: readonly C[];
} & ({ readonly sortField?: C; readonly order?: never } | { readonly order: Order<C>; readonly sortField?: never });

export interface CursorMetadata {
  readonly total_items: number | null;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_more: boolean;
  readonly links: Links;
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
 * // ?sort=-published_at,id is then for the client to say.
 * const sorted = new CursorPagination({ sortField: "id", sortable: ["published_at", "id"] });
 * new PorticoApp().get("/books", ({ response }) => response.paginate(books, { strategy: sorted }));
 * ```
 */
export class CursorPagination<const C extends string = "id"> extends BasePaginationStrategy<
  CursorParameters,
  CursorMetadata,
  C
> {
  override readonly totals: Totals | undefined;
  override readonly outOfRange: "empty" | "error";
  override readonly linkHeader: boolean;
  /** @internal The declared order. The source adds its unique key. */
  readonly order: Order;
  /** @internal */
  readonly maxAgeSeconds: number | undefined;
  /** @internal */
  readonly size: SizeLimits;
  /** @internal The columns that a client may sort by, or `null` if it may not sort. */
  readonly sort: SortLimits | null;
  readonly #cursorParam: string;
  readonly #sizeParam: string;
  readonly #dropped: readonly string[];
  readonly #scopes = new Map<string, Buffer>();

  constructor(options: CursorOptions<C> = {}) {
    super();
    const read = resolveOptions("CursorPagination", options, cursorRules);
    if (read.sortField !== undefined && read.order !== undefined)
      throw new ConfigurationError("CursorPagination", "accepts either sortField or order, not both");
    this.totals = read.totals;
    this.outOfRange = read.outOfRange;
    this.linkHeader = read.linkHeader;
    this.order = read.order ?? [[read.sortField ?? "id", "asc"]];
    this.maxAgeSeconds = read.maxAgeSeconds;
    this.size = sizeLimits("CursorPagination.defaultPageSize", {
      least: 1,
      fallback: read.defaultPageSize,
      max: read.maxPageSize,
      overMax: read.overMax,
    });
    this.sort = sortLimits("CursorPagination", read);
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
   */
  scopeOf(name: string, order: Order, filter: Readonly<Record<string, unknown>> | undefined, rule?: string): Buffer {
    if (filter !== undefined) return scopeDigest(name, order, filter, rule);
    const key = JSON.stringify([name, order, rule]);
    const known = this.#scopes.get(key) ?? scopeDigest(name, order, undefined, rule);
    if (this.#scopes.size < MOST_SCOPES) this.#scopes.set(key, known);
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
    const { nextCursor = null, prevCursor = null } = facts ?? {};
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
      links: presentLinks({ first: maker.to([sized]), prev: to(prevCursor), next: to(nextCursor) }),
    };
  }

  override describe(): StrategyDescription {
    const { fallback, max } = this.size;
    const cursor = { type: ["string", "null"] };
    return {
      parameters: [
        {
          name: this.#cursorParam,
          description: "The next_cursor or prev_cursor of another page. Omit it for the first page.",
          schema: { type: "string", maxLength: 2048 },
        },
        {
          name: this.#sizeParam,
          description: "The number of items per page.",
          schema: { type: "integer", minimum: 1, maximum: max, default: fallback },
        },
        ...(this.sort === null ? [] : [sortParameter(this.sort)]),
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
          links: linksSchema("first", "prev", "next"),
        },
        required: ["total_items", "page_size", "cursor", "next_cursor", "prev_cursor", "has_more", "links"],
      },
    };
  }
}

const MOST_SCOPES = 1_000;

const cursorRules = {
  ...paginationRules,
  cursorParam: optional(text, "cursor"),
  pageSizeParam: optional(text, "page_size"),
  defaultPageSize: optional(positiveInteger, 20),
  maxPageSize: optional(positiveInteger, 100),
  totals: totalsRule,
  maxAgeSeconds: positiveInteger,
  sortField: text,
  order: orderRule,
  sortable: sortableRule,
  sortParam: text,
  maxSortColumns: positiveInteger,
};
