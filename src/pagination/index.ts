export type { ConditionNode, PresentValue } from "./condition.ts";
export type {
  Capping,
  Counted,
  DataHandler,
  Deep,
  Estimating,
  FetchContext,
  Nestable,
  ParentKey,
  ParentSeek,
  Scopable,
  Seekable,
  SeekRequest,
  Selecting,
  Sorting,
} from "./data-handler.ts";
export { AsyncDataHandler, SyncDataHandler } from "./data-handler.ts";
export type { Filterable, FilterOptions } from "./filter/filterable.ts";
export { KeyMisfit, type KeyTuple, type KeyValue } from "./keys/key-tuple.ts";
export type { Links } from "./links.ts";
export type { Direction, NullPlacement, Order } from "./order.ts";
export {
  InvalidCursorError,
  InvalidFilterError,
  InvalidPageError,
  InvalidPageSizeError,
  InvalidSortError,
  PaginationError,
  type PaginationErrorOptions,
} from "./pagination-error.ts";
export type { QueryParams } from "./query-params.ts";
export {
  BasePaginationStrategy,
  type Page,
  type PageFacts,
  type PaginationOptions,
  type ParameterDescription,
  type StrategyDescription,
} from "./strategies/base-pagination-strategy.ts";
export {
  type CursorMetadata,
  type CursorOptions,
  CursorPagination,
  type CursorParameters,
  type PageLink,
} from "./strategies/cursor-pagination.ts";
export {
  type LimitOffsetMetadata,
  type LimitOffsetOptions,
  LimitOffsetPagination,
} from "./strategies/limit-offset-pagination.ts";
export {
  type PageNumberMetadata,
  type PageNumberOptions,
  PageNumberPagination,
} from "./strategies/page-number-pagination.ts";
export type { PaginateOptions } from "./strategies/strategy-by-name.ts";
export { AsyncListDataHandler, type ListHandlerOptions, SyncListDataHandler } from "./sync-list-data-handler.ts";
export type { Totals } from "./totals.ts";
export { type WalkBatch, type WalkOptions, walk } from "./walk.ts";
