import { ConfigurationError } from "../../core/configuration-error.ts";
import type { FilterOptions } from "../filter/filterable.ts";
import { BasePaginationStrategy, type Page } from "./base-pagination-strategy.ts";
import { type CursorMetadata, type CursorOptions, CursorPagination } from "./cursor-pagination.ts";
import { type LimitOffsetMetadata, type LimitOffsetOptions, LimitOffsetPagination } from "./limit-offset-pagination.ts";
import { type PageNumberMetadata, type PageNumberOptions, PageNumberPagination } from "./page-number-pagination.ts";

/** Filters that name their columns. */
type NamedFilters<C extends string> = Readonly<Record<string, FilterOptions<C> & { readonly column: C }>>;

/** The strategies that have a name, with their options and metadata. */
export interface StrategyByName<C extends string = string> {
  page_number: [options: PageNumberOptions<NamedFilters<C>>, metadata: PageNumberMetadata];
  limit_offset: [options: LimitOffsetOptions<NamedFilters<C>>, metadata: LimitOffsetMetadata];
  cursor: [options: CursorOptions<C, NamedFilters<C>>, metadata: CursorMetadata];
}
export type StrategyName = keyof StrategyByName;
/**
 * A strategy for a list of `T`: a name, or an instance that sorts by columns of `T` or by further columns of its
 * source.
 */
export type StrategyFor<T, C extends string = never> =
  | StrategyName
  | BasePaginationStrategy<any, any, Extract<keyof T, string> | C>;
export type MetadataOf<S> = S extends StrategyName
  ? StrategyByName[S][1]
  : S extends BasePaginationStrategy<any, infer M, any>
    ? M
    : never;
/** A page of `T` from the strategy `S`. */
export type PageOf<T, S> = Page<T, MetadataOf<S>>;
/** A strategy given by name takes its options here. An instance already has them. */
export type PaginateOptions<S, T, C extends string = never> = (S extends StrategyName
  ? { readonly strategy?: S } & StrategyByName<Extract<keyof T, string> | C>[S][0]
  : { readonly strategy: S }) & {
  /**
   * Values that the handler restricts the list by, such as the id of the caller. A cursor with other values is rejected.
   * The values of `filterable` need not be repeated here.
   */
  readonly cursorScope?: Readonly<Record<string, unknown>>;
};

/** Any strategy, as the pagination code uses it. */
export type AnyStrategy = BasePaginationStrategy<any, object, any>;

const makers: Readonly<Record<StrategyName, (options: object) => AnyStrategy>> = {
  page_number: (options) => new PageNumberPagination(options),
  limit_offset: (options) => new LimitOffsetPagination(options),
  cursor: (options) => new CursorPagination(options),
};
const standard = new Map<StrategyName, AnyStrategy>();

/** Returns the chosen strategy, or `page_number` by default. Throws a `ConfigurationError` that names `place`. */
export function strategyOf(
  chosen: unknown,
  options: Readonly<Record<string, unknown>> = {},
  place = "paginate.strategy",
): AnyStrategy {
  if (chosen instanceof BasePaginationStrategy) {
    const [extra] = Object.keys(options);
    if (extra === undefined) return chosen;
    throw new ConfigurationError(
      `paginate.${extra}`,
      "applies only to a strategy given by name: set it on the instance",
    );
  }
  const name = chosen ?? "page_number";
  if (typeof name !== "string" || !Object.hasOwn(makers, name))
    throw new ConfigurationError(
      place,
      `${Object.keys(makers)
        .map((known) => `"${known}"`)
        .join(", ")} or an instance of a strategy`,
      chosen,
    );
  return Object.keys(options).length === 0
    ? standardStrategy(name as StrategyName)
    : makers[name as StrategyName](options);
}

function standardStrategy(name: StrategyName): AnyStrategy {
  const known = standard.get(name) ?? makers[name]({});
  standard.set(name, known);
  return known;
}
