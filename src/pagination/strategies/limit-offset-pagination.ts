import { optional, positiveInteger, resolveOptions, text, wholeNumber } from "../../core/resolve-options.ts";
import { LinkMaker, type Links } from "../links.ts";
import { InvalidPageError } from "../pagination-error.ts";
import { type QueryParams, readPosition, readSize, type SizeLimits } from "../query-params.ts";
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

export interface LimitOffsetOptions extends PaginationOptions {
  /** The query parameter of the limit. @default "limit" */
  readonly limitParam?: string;
  /** The query parameter of the offset. @default "offset" */
  readonly offsetParam?: string;
  /** The limit when none is asked for. @default 20 */
  readonly defaultLimit?: number;
  /** The largest limit. @default 100 */
  readonly maxLimit?: number;
  /** How `total_items` comes about. @default "exact" */
  readonly totals?: Totals;
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
export class LimitOffsetPagination extends BasePaginationStrategy<
  readonly [offset: number, limit: number],
  LimitOffsetMetadata
> {
  override readonly totals: Totals;
  override readonly outOfRange: "empty" | "error";
  override readonly linkHeader: boolean;
  readonly #limitParam: string;
  readonly #offsetParam: string;
  readonly #limit: SizeLimits;
  readonly #dropped: readonly string[];

  constructor(options: LimitOffsetOptions = {}) {
    super();
    const read = resolveOptions("LimitOffsetPagination", options, limitOffsetRules);
    this.totals = read.totals;
    this.outOfRange = read.outOfRange;
    this.linkHeader = read.linkHeader;
    this.#limitParam = read.limitParam;
    this.#offsetParam = read.offsetParam;
    this.#limit = sizeLimits("LimitOffsetPagination.defaultLimit", {
      least: 0,
      fallback: read.defaultLimit,
      max: read.maxLimit,
      overMax: read.overMax,
    });
    this.#dropped = [read.limitParam, read.offsetParam, ...read.omitFromLinks];
  }

  override get positionParameter(): string {
    return this.#offsetParam;
  }

  override parseParameters(requestParams: QueryParams): readonly [offset: number, limit: number] {
    const offset = readPosition(requestParams, this.#offsetParam, 0, 0);
    return [offset, readSize(requestParams, this.#limitParam, this.#limit)];
  }

  override calculateOffsetLimit(offset: number, limit: number): readonly [offset: number, limit: number] {
    if (!Number.isSafeInteger(offset + limit))
      throw new InvalidPageError(`${this.#offsetParam} is too large`, { parameter: this.#offsetParam });
    return [offset, limit];
  }

  override generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    baseUrl: string,
    requestParams: QueryParams,
    facts?: PageFacts,
  ): LimitOffsetMetadata {
    const [offset, limit] = this.parseParameters(requestParams);
    const hasMore = facts?.hasMore ?? (totalItems !== null && offset + limit < totalItems);
    // Where counting stopped, and by an estimate, the total does not say where the list ends.
    const known = facts?.isBeyondCap === true || facts?.isEstimate === true ? null : totalItems;
    const maker = new LinkMaker(baseUrl, requestParams, facts?.search, this.#dropped);
    const to = (start: number, size = limit): string =>
      maker.to([
        [this.#limitParam, size],
        [this.#offsetParam, start],
      ]);
    return {
      total_items: totalItems,
      limit,
      offset,
      current_page: limit === 0 ? 1 : Math.floor(offset / limit) + 1,
      total_pages: limit === 0 ? 0 : totalItems === null ? null : Math.ceil(totalItems / limit),
      links: presentLinks({
        first: to(0),
        prev: limit === 0 || offset === 0 ? null : previous(offset, limit, known, to),
        next: limit > 0 && hasMore ? to(offset + limit) : null,
        last: known === null ? null : to(lastStart(offset, limit, known)),
      }),
    };
  }

  override describe(): StrategyDescription {
    const { fallback, max } = this.#limit;
    const integer = { type: "integer" };
    return {
      parameters: [
        {
          name: this.#limitParam,
          description: "How many items to give at most.",
          schema: { type: "integer", minimum: 0, maximum: max, default: fallback },
        },
        {
          name: this.#offsetParam,
          description: "How many items to pass over.",
          schema: { type: "integer", minimum: 0, default: 0 },
        },
      ],
      metadata: {
        type: "object",
        properties: {
          total_items: totalSchema(this.totals),
          limit: integer,
          offset: integer,
          current_page: integer,
          total_pages: this.totals === "none" ? { type: ["integer", "null"] } : integer,
          links: linksSchema("first", "last", "prev", "next"),
        },
        required: ["total_items", "limit", "offset", "current_page", "total_pages", "links"],
      },
    };
  }
}

/** The window before this one: shorter at the beginning, so that none overlap; from beyond the end, the last one. */
function previous(
  offset: number,
  limit: number,
  total: number | null,
  to: (start: number, size?: number) => string,
): string {
  if (total !== null && offset >= total) return to(Math.max(0, total - limit));
  return offset < limit ? to(0, offset) : to(offset - limit);
}

/** The last window of the walk that this one is part of. */
function lastStart(offset: number, limit: number, total: number): number {
  if (limit === 0 || total === 0) return 0;
  const phase = offset % limit;
  return phase < total ? phase + Math.floor((total - 1 - phase) / limit) * limit : 0;
}

const limitOffsetRules = {
  ...paginationRules,
  limitParam: optional(text, "limit"),
  offsetParam: optional(text, "offset"),
  defaultLimit: optional(wholeNumber, 20),
  maxLimit: optional(positiveInteger, 100),
  totals: optional(totalsRule, "exact"),
};
