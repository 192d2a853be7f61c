import { optional, positiveInteger, resolveOptions, text } from "../../core/resolve-options.ts";
import { LinkMaker, type Links } from "../links.ts";
import { InvalidPageError } from "../pagination-error.ts";
import { type QueryParams, readPosition, readSize, type SizeLimits } from "../query-params.ts";
import { countedTotalsRule, type Totals, totalSchema } from "../totals.ts";
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

export interface PageNumberOptions extends PaginationOptions {
  /** The query parameter of the page. @default "page" */
  readonly pageParam?: string;
  /** The query parameter of the page size. @default "page_size" */
  readonly pageSizeParam?: string;
  /** The page when none is asked for. @default 1 */
  readonly defaultPage?: number;
  /** The size when none is asked for. @default 20 */
  readonly defaultPageSize?: number;
  /** The largest size. @default 100 */
  readonly maxPageSize?: number;
  /** How `total_items` comes about. @default "exact" */
  readonly totals?: Exclude<Totals, "none">;
}

export interface PageNumberMetadata {
  readonly total_items: number;
  readonly total_pages: number;
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
export class PageNumberPagination extends BasePaginationStrategy<
  readonly [page: number, size: number],
  PageNumberMetadata
> {
  override readonly totals: Exclude<Totals, "none">;
  override readonly outOfRange: "empty" | "error";
  override readonly linkHeader: boolean;
  readonly #pageParam: string;
  readonly #sizeParam: string;
  readonly #defaultPage: number;
  readonly #size: SizeLimits;
  readonly #dropped: readonly string[];

  constructor(options: PageNumberOptions = {}) {
    super();
    const read = resolveOptions("PageNumberPagination", options, pageNumberRules);
    this.totals = read.totals;
    this.outOfRange = read.outOfRange;
    this.linkHeader = read.linkHeader;
    this.#pageParam = read.pageParam;
    this.#sizeParam = read.pageSizeParam;
    this.#defaultPage = read.defaultPage;
    this.#size = sizeLimits("PageNumberPagination.defaultPageSize", {
      least: 1,
      fallback: read.defaultPageSize,
      max: read.maxPageSize,
      overMax: read.overMax,
    });
    this.#dropped = [read.pageParam, read.pageSizeParam, ...read.omitFromLinks];
  }

  override get positionParameter(): string {
    return this.#pageParam;
  }

  override parseParameters(requestParams: QueryParams): readonly [page: number, size: number] {
    const page = readPosition(requestParams, this.#pageParam, 1, this.#defaultPage);
    return [page, readSize(requestParams, this.#sizeParam, this.#size)];
  }

  override calculateOffsetLimit(page: number, size: number): readonly [offset: number, limit: number] {
    if (page > Number.MAX_SAFE_INTEGER / size)
      throw new InvalidPageError(`${this.#pageParam} is too large`, { parameter: this.#pageParam });
    return [(page - 1) * size, size];
  }

  override generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    baseUrl: string,
    requestParams: QueryParams,
    facts?: PageFacts,
  ): PageNumberMetadata {
    const [page, size] = this.parseParameters(requestParams);
    const total = totalItems ?? 0;
    const lastPage = Math.max(1, Math.ceil(total / size));
    // Beyond a cap, and by an estimate, nobody knows which page is the last.
    const isOpen = facts?.isBeyondCap === true || facts?.isEstimate === true;
    const hasMore = facts?.hasMore ?? page * size < total;
    const maker = new LinkMaker(baseUrl, requestParams, facts?.search, this.#dropped);
    const to = (number: number): string =>
      maker.to([
        [this.#pageParam, number],
        [this.#sizeParam, size],
      ]);
    return {
      total_items: total,
      total_pages: Math.ceil(total / size),
      page,
      page_size: size,
      links: presentLinks({
        first: to(1),
        prev: page > 1 ? to(isOpen ? page - 1 : Math.min(page - 1, lastPage)) : null,
        next: hasMore ? to(page + 1) : null,
        last: isOpen ? null : to(lastPage),
      }),
    };
  }

  override describe(): StrategyDescription {
    const { fallback, max } = this.#size;
    const integer = { type: "integer" };
    return {
      parameters: [
        {
          name: this.#pageParam,
          description: "The number of the page.",
          schema: { type: "integer", minimum: 1, default: this.#defaultPage },
        },
        {
          name: this.#sizeParam,
          description: "How many items a page has.",
          schema: { type: "integer", minimum: 1, maximum: max, default: fallback },
        },
      ],
      metadata: {
        type: "object",
        properties: {
          total_items: totalSchema(this.totals),
          total_pages: integer,
          page: integer,
          page_size: integer,
          links: linksSchema("first", "last", "prev", "next"),
        },
        required: ["total_items", "total_pages", "page", "page_size", "links"],
      },
    };
  }
}

const pageNumberRules = {
  ...paginationRules,
  pageParam: optional(text, "page"),
  pageSizeParam: optional(text, "page_size"),
  defaultPage: optional(positiveInteger, 1),
  defaultPageSize: optional(positiveInteger, 20),
  maxPageSize: optional(positiveInteger, 100),
  totals: optional(countedTotalsRule, "exact"),
};
