import { optional, positiveInteger, resolveOptions, text, wholeNumber } from "../../core/resolve-options.ts";
import { type Filterable, type FilterColumns, filterableRule } from "../filter/filterable.ts";
import { type Totals, totalsRule } from "../handlers/totals.ts";
import type { Links } from "../query/links.ts";
import { type PaginationOptions, paginationRules, presentLinks } from "./base-pagination-strategy.ts";
import { OffsetPagination, type OffsetWindow } from "./offset-pagination.ts";

export interface LimitOffsetOptions<F extends Filterable = Filterable> extends PaginationOptions {
  /** The query parameter of the limit. @default "limit" */
  readonly limitParam?: string;
  /** The query parameter of the offset. @default "offset" */
  readonly offsetParam?: string;
  /** The limit if the request has none. @default 20 */
  readonly defaultLimit?: number;
  /** The maximum limit. @default 100 */
  readonly maxLimit?: number;
  /** How `total_items` is determined. @default "exact" */
  readonly totals?: Totals;
  /**
   * The filters that a client may use: `?genre=novel&price.lt=1000`, as for `CursorPagination`. @default none
   */
  readonly filterable?: F;
}

export interface LimitOffsetMetadata {
  readonly total_items: number | null;
  readonly limit: number;
  readonly offset: number;
  readonly current_page: number;
  readonly total_pages: number | null;
  readonly links: Links;
}

/** Pages by offset: `?limit=20&offset=40`. */
export class LimitOffsetPagination<const F extends Filterable = {}> extends OffsetPagination<
  LimitOffsetMetadata,
  NoInfer<FilterColumns<F>>
> {
  constructor(options: LimitOffsetOptions<F> = {}) {
    const read = resolveOptions("LimitOffsetPagination", options, limitOffsetRules);
    super("LimitOffsetPagination", read, {
      position: { name: read.offsetParam, least: 0, fallback: 0, description: "The number of items to skip." },
      size: {
        name: read.limitParam,
        option: "LimitOffsetPagination.defaultLimit",
        limits: { least: 0, fallback: read.defaultLimit, max: read.maxLimit },
        description: "The maximum number of items to return.",
      },
      isSizeFirst: true,
    });
  }

  /** @internal */
  protected override offsetOf(offset: number): number {
    return offset;
  }

  /** @internal */
  protected override metadataOf(window: OffsetWindow): LimitOffsetMetadata {
    const { position: offset, size: limit, totalItems, end, hasMore, to } = window;
    return {
      total_items: totalItems,
      limit,
      offset,
      current_page: limit === 0 ? 1 : Math.floor(offset / limit) + 1,
      total_pages: limit === 0 ? 0 : totalItems === null ? null : Math.ceil(totalItems / limit),
      links: presentLinks({
        first: to(0),
        prev: limit === 0 || offset === 0 ? null : previous(window),
        next: limit > 0 && hasMore ? to(offset + limit) : null,
        last: end === null ? null : to(lastStart(offset, limit, end)),
      }),
    };
  }

  /** @internal */
  protected override metadataSchema(): Readonly<Record<string, unknown>> {
    const integer = { type: "integer" };
    const pages = this.totals === "none" ? { type: ["integer", "null"] } : integer;
    return { limit: integer, offset: integer, current_page: integer, total_pages: pages };
  }
}

/** The page before this one. It is shorter at the start of the list, so that pages never overlap. */
function previous({ position: offset, size: limit, end, to }: OffsetWindow): string {
  if (end !== null && offset >= end) return to(Math.max(0, end - limit));
  return offset < limit ? to(0, offset) : to(offset - limit);
}

/** The start of the last page that a client reaches by following `next` from this page. */
function lastStart(offset: number, limit: number, total: number): number {
  if (limit === 0 || total === 0) return 0;
  const phase = offset % limit;
  return phase < total ? phase + Math.floor((total - 1 - phase) / limit) * limit : 0;
}

const limitOffsetRules = {
  ...paginationRules,
  filterable: filterableRule,
  limitParam: optional(text, "limit"),
  offsetParam: optional(text, "offset"),
  defaultLimit: optional(wholeNumber, 20),
  maxLimit: optional(positiveInteger, 100),
  totals: optional(totalsRule, "exact"),
};
