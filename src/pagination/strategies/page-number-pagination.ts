import { optional, positiveInteger, resolveOptions, text } from "../../core/resolve-options.ts";
import { type Filterable, type FilterColumns, filterableRule } from "../filter/filterable.ts";
import { countedTotalsRule, type Totals } from "../handlers/totals.ts";
import type { Links } from "../query/links.ts";
import { type PaginationOptions, paginationRules, presentLinks } from "./base-pagination-strategy.ts";
import { OffsetPagination, type OffsetWindow } from "./offset-pagination.ts";

export interface PageNumberOptions<F extends Filterable = Filterable> extends PaginationOptions {
  /** The query parameter of the page. @default "page" */
  readonly pageParam?: string;
  /** The query parameter of the page size. @default "page_size" */
  readonly pageSizeParam?: string;
  /** The page if the request has none. @default 1 */
  readonly defaultPage?: number;
  /** The page size if the request has none. @default 20 */
  readonly defaultPageSize?: number;
  /** The maximum page size. @default 100 */
  readonly maxPageSize?: number;
  /** How `total_items` is determined. @default "exact" */
  readonly totals?: Exclude<Totals, "none">;
  /**
   * The filters that a client may use: `?genre=novel&price.lt=1000`, as for `CursorPagination`. @default none
   */
  readonly filterable?: F;
}

export interface PageNumberMetadata {
  /** `null` if the list has an authorization rule without `where`. */
  readonly total_items: number | null;
  readonly total_pages: number | null;
  readonly page: number;
  readonly page_size: number;
  readonly links: Links;
}

/**
 * Pages by number: `?page=3&page_size=20`.
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { PageNumberPagination } from "portico/pagination";
 *
 * const pages = new PageNumberPagination({ defaultPageSize: 10, maxPageSize: 50 });
 * new PorticoApp().get("/books", ({ response }) => response.paginate(["Emma", "Persuasion"], { strategy: pages }));
 * ```
 */
export class PageNumberPagination<const F extends Filterable = {}> extends OffsetPagination<
  PageNumberMetadata,
  NoInfer<FilterColumns<F>>
> {
  constructor(options: PageNumberOptions<F> = {}) {
    const read = resolveOptions("PageNumberPagination", options, pageNumberRules);
    super("PageNumberPagination", read, {
      position: { name: read.pageParam, least: 1, fallback: read.defaultPage, description: "The page number." },
      size: {
        name: read.pageSizeParam,
        option: "PageNumberPagination.defaultPageSize",
        limits: { least: 1, fallback: read.defaultPageSize, max: read.maxPageSize },
        description: "The number of items per page.",
      },
    });
  }

  /** @internal */
  protected override offsetOf(page: number, size: number): number {
    return (page - 1) * size;
  }

  /** @internal */
  protected override metadataOf({
    position: page,
    size,
    totalItems,
    end,
    hasMore,
    to,
  }: OffsetWindow): PageNumberMetadata {
    const lastPage = end === null ? null : Math.max(1, Math.ceil(end / size));
    return {
      total_items: totalItems,
      total_pages: totalItems === null ? null : Math.ceil(totalItems / size),
      page,
      page_size: size,
      links: presentLinks({
        first: to(1),
        prev: page > 1 ? to(Math.min(page - 1, lastPage ?? page)) : null,
        next: hasMore ? to(page + 1) : null,
        last: lastPage === null ? null : to(lastPage),
      }),
    };
  }

  /** @internal */
  protected override metadataSchema(): Readonly<Record<string, unknown>> {
    const integer = { type: "integer" };
    return { total_pages: integer, page: integer, page_size: integer };
  }
}

const pageNumberRules = {
  ...paginationRules,
  filterable: filterableRule,
  pageParam: optional(text, "page"),
  pageSizeParam: optional(text, "page_size"),
  defaultPage: optional(positiveInteger, 1),
  defaultPageSize: optional(positiveInteger, 20),
  maxPageSize: optional(positiveInteger, 100),
  totals: optional(countedTotalsRule, "exact"),
};
