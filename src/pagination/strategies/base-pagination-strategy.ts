import { ConfigurationError } from "../../core/configuration-error.ts";
import { flag, oneOf, optional, textList, type WithFallback } from "../../core/resolve-options.ts";
import type { FilterFields } from "../filter/filterable.ts";
import type { Totals } from "../handlers/totals.ts";
import type { Links } from "../query/links.ts";
import type { ParameterDescription } from "../query/parameter-description.ts";
import { type QueryParams, readPosition, readSize, type SizeLimits } from "../query/query-params.ts";
import type { NearPage } from "./near-page.ts";
import type { SortLimits } from "./read-sort.ts";

/** The items of a page and its metadata. */
export interface Page<T, M> {
  readonly items: readonly T[];
  readonly pagination: M;
}

/** Options that all strategies of Portico have. */
export interface PaginationOptions {
  /** Whether a size above the maximum is clamped or rejected. @default "clamp" */
  readonly overMax?: "clamp" | "reject";
  /** Whether a page after the last one is empty or an error. @default "empty" */
  readonly outOfRange?: "empty" | "error";
  /** Query parameters that are left out of every link. @default none */
  readonly omitFromLinks?: readonly string[];
  /** Whether the links are also sent as a `Link` header. @default true */
  readonly linkHeader?: boolean;
}

/** Facts about a page other than its items, for strategies that need them. */
export interface PageFacts {
  /** Whether there are items after these. */
  readonly hasMore: boolean;
  /** Whether there are more items than the cap of the totals. */
  readonly isBeyondCap: boolean;
  /** Whether the total is an estimate, so that the end of the list is unknown. */
  readonly isEstimate?: boolean;
  /** The query as it was sent, without its question mark. */
  readonly search?: string;
  readonly nextCursor?: string | null;
  readonly prevCursor?: string | null;
  /** The cursor of the last page, if the source can read from its end. */
  readonly lastCursor?: string | null;
  /** The pages near this one, if the strategy has a page bar. */
  readonly near?: readonly NearPage[];
}

/** The parameters and metadata of a strategy in the OpenAPI document. */
export interface StrategyDescription {
  readonly parameters: readonly ParameterDescription[];
  /** The JSON Schema of `pagination`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A tuple is spread into the arguments. Any other value is one argument. */
export type Spread<P> = P extends readonly unknown[] ? P : [P];

const DEFAULT_LIMITS = { least: 1, fallback: 20, max: 100, overMax: "clamp" } as const;

/**
 * The base class of all strategies. Each of the three methods can be overridden. The default implementations read
 * `page` and `page_size`, and report `total_items`.
 *
 * `C` names the columns that the strategy sorts and filters by. Lists whose rows lack one of them do not compile.
 *
 * @example
 * ```ts
 * import { BasePaginationStrategy, type QueryParams } from "portico/pagination";
 *
 * class FromSecond extends BasePaginationStrategy<readonly [second: number], { readonly from: number }> {
 *   override parseParameters(query: QueryParams): readonly [number] {
 *     return [Number(query["second"] ?? 0)];
 *   }
 *   override calculateOffsetLimit(second: number): readonly [number, number] {
 *     return [second * 10, 10];
 *   }
 *   override generateMetadata(): { readonly from: number } {
 *     return { from: 0 };
 *   }
 * }
 * ```
 */
export abstract class BasePaginationStrategy<
  P = unknown,
  M extends object = Record<string, unknown>,
  C extends string = never,
> {
  readonly "~columns"?: C;
  readonly "~metadata"?: M;
  /** @internal If it is `undefined`, the source decides. */
  readonly totals: Totals | undefined = "exact";
  /** @internal The filters that a client may use, or `null` if there are none. */
  readonly filters: FilterFields | null = null;
  /** @internal The names that a client may sort by, or `null` if it may not sort. */
  readonly sort: SortLimits | null = null;
  /** @internal */
  readonly outOfRange: "empty" | "error" = "empty";
  /** @internal */
  readonly linkHeader: boolean = true;
  /** @internal The parameter that positions a page, for error messages. */
  get positionParameter(): string {
    return "page";
  }

  /** Extracts the pagination parameters from the query parameters. */
  parseParameters(requestParams: QueryParams): P {
    return [
      readPosition(requestParams, "page", 1, 1),
      readSize(requestParams, "page_size", DEFAULT_LIMITS),
    ] as unknown as P;
  }

  /** Calculates the offset and the limit from the parsed parameters. */
  calculateOffsetLimit(...parsed: Spread<P>): readonly [offset: number, limit: number] {
    const [page, size] = parsed as readonly unknown[];
    if (typeof page !== "number" || typeof size !== "number")
      throw new TypeError(
        `${this.constructor.name}.parseParameters does not return a page and a size: override calculateOffsetLimit as well`,
      );
    return [(page - 1) * size, size];
  }

  /** Returns the content of `pagination`. Most strategies do not need `facts`. */
  generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    _baseUrl: string,
    _requestParams: QueryParams,
    _facts?: PageFacts,
  ): M {
    return { total_items: totalItems } as unknown as M;
  }

  /** Describes the strategy for the OpenAPI document. */
  describe(): StrategyDescription {
    return { parameters: [], metadata: { type: "object" } };
  }
}

export const paginationRules: {
  readonly overMax: WithFallback<"clamp" | "reject">;
  readonly outOfRange: WithFallback<"empty" | "error">;
  readonly omitFromLinks: WithFallback<readonly string[]>;
  readonly linkHeader: WithFallback<boolean>;
} = {
  overMax: optional(oneOf("clamp", "reject"), "clamp"),
  outOfRange: optional(oneOf("empty", "error"), "empty"),
  omitFromLinks: optional(textList("a list of parameter names"), []),
  linkHeader: optional(flag, true),
};

/** Checks the limits of a size. A default above the maximum would contradict every request without a size. */
export function sizeLimits(option: string, limits: SizeLimits): SizeLimits {
  const { fallback, max } = limits;
  if (fallback > max) throw new ConfigurationError(option, `at most the maximum of ${max}`, fallback);
  return limits;
}

/** Omits the links that are `null`. */
export function presentLinks(links: {
  readonly first: string;
  readonly last?: string | null;
  readonly prev: string | null;
  readonly next: string | null;
}): Links {
  const { first, last = null, prev, next } = links;
  return {
    first,
    ...(last === null ? {} : { last }),
    ...(prev === null ? {} : { prev }),
    ...(next === null ? {} : { next }),
  };
}

/** Returns the JSON Schema of the links for the OpenAPI document. */
export function linksSchema(...names: readonly (keyof Links)[]): Readonly<Record<string, unknown>> {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", format: "uri" }]));
  return { type: "object", properties, required: ["first"] };
}
