import { ConfigurationError } from "../../core/configuration-error.ts";
import { flag, listOf, optional, type Rule, rule } from "../../core/resolve-options.ts";
import type { Links } from "../links.ts";
import { type QueryParams, readPosition, readSize, type SizeLimits } from "../query-params.ts";
import type { Totals } from "../totals.ts";

/** Items, and what is said about them. */
export interface Page<T, M> {
  readonly items: readonly T[];
  readonly pagination: M;
}

/** What every strategy of Portico takes. */
export interface PaginationOptions {
  /** A size beyond the maximum is that maximum, or refused. @default "clamp" */
  readonly overMax?: "clamp" | "reject";
  /** A page beyond the last is empty, or refused. @default "empty" */
  readonly outOfRange?: "empty" | "error";
  /** Query parameters that are left out of every link. @default none */
  readonly omitFromLinks?: readonly string[];
  /** Whether the links are also sent as a `Link` header. @default true */
  readonly linkHeader?: boolean;
}

/** What is known of a page beside its items, for the strategies that ask. */
export interface PageFacts {
  /** Whether there are items after these. */
  readonly hasMore: boolean;
  /** Whether there are more items than the cap of the totals. */
  readonly isBeyondCap: boolean;
  /** Whether the total is a guess: where the list ends is not known then. */
  readonly isEstimate?: boolean;
  /** The query as it was sent, without its question mark. */
  readonly search?: string;
  readonly nextCursor?: string | null;
  readonly prevCursor?: string | null;
}

/** A query parameter, for the OpenAPI document. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. Of an array, the value is its entries with commas between them. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** What a strategy takes and gives, for the OpenAPI document. */
export interface StrategyDescription {
  readonly parameters: readonly ParameterDescription[];
  /** JSON Schema of what stands under `pagination`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A tuple is unpacked into the arguments, anything else is one argument. */
export type Spread<P> = P extends readonly unknown[] ? P : [P];

const DEFAULT_LIMITS = { least: 1, fallback: 20, max: 100, overMax: "clamp" } as const;

/**
 * The base of every strategy. Each of the three methods may be overridden, or left: as they stand they read `page` and
 * `page_size`, and report `total_items`.
 *
 * `C` names the columns that the strategy sorts by: a list whose rows lack one is refused.
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
  /** @internal `undefined` leaves it to the source. */
  readonly totals: Totals | undefined = "exact";
  /** @internal */
  readonly outOfRange: "empty" | "error" = "empty";
  /** @internal */
  readonly linkHeader: boolean = true;
  /** @internal The parameter that says where a page begins, for errors. */
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

  /** Turns what was parsed into the slice to take. */
  calculateOffsetLimit(...parsed: Spread<P>): readonly [offset: number, limit: number] {
    const [page, size] = parsed as readonly unknown[];
    if (typeof page !== "number" || typeof size !== "number")
      throw new TypeError(
        `${this.constructor.name} has a parseParameters of its own, which gives no page and size: override calculateOffsetLimit, too`,
      );
    return [(page - 1) * size, size];
  }

  /** What stands under `pagination`. `facts` is more than most strategies need. */
  generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    _baseUrl: string,
    _requestParams: QueryParams,
    _facts?: PageFacts,
  ): M {
    return { total_items: totalItems } as unknown as M;
  }

  /** What goes into the OpenAPI document. */
  describe(): StrategyDescription {
    return { parameters: [], metadata: { type: "object" } };
  }
}

export const paginationRules: {
  readonly overMax: Rule<"clamp" | "reject"> & { readonly fallback: "clamp" | "reject" };
  readonly outOfRange: Rule<"empty" | "error"> & { readonly fallback: "empty" | "error" };
  readonly omitFromLinks: Rule<readonly string[]> & { readonly fallback: readonly string[] };
  readonly linkHeader: Rule<boolean> & { readonly fallback: boolean };
} = {
  overMax: optional(
    rule<"clamp" | "reject">('"clamp" or "reject"', (value) => value === "clamp" || value === "reject"),
    "clamp",
  ),
  outOfRange: optional(
    rule<"empty" | "error">('"empty" or "error"', (value) => value === "empty" || value === "error"),
    "empty",
  ),
  omitFromLinks: optional(
    listOf<string>("a list of parameter names", (name) => typeof name === "string"),
    [],
  ),
  linkHeader: optional(flag, true),
};

/** What a size may be. A default beyond the maximum would contradict every request that leaves the size out. */
export function sizeLimits(option: string, limits: SizeLimits): SizeLimits {
  const { fallback, max } = limits;
  if (fallback > max) throw new ConfigurationError(option, `at most the largest size, ${max}`, fallback);
  return limits;
}

/** Leaves out the links that there are not. */
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

/** The JSON Schema of the links, for the OpenAPI document. */
export function linksSchema(...names: readonly (keyof Links)[]): Readonly<Record<string, unknown>> {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", format: "uri" }]));
  return { type: "object", properties, required: ["first"] };
}
