export type { ConditionNode, PresentValue } from "./condition.ts";
export type {
  Capping,
  Counted,
  DataHandler,
  Deep,
  Estimating,
  FetchContext,
  Scopable,
  Seekable,
  SeekRequest,
  Sorting,
} from "./data-handler.ts";
export { AsyncDataHandler, SyncDataHandler } from "./data-handler.ts";
export { KeyMisfit, type KeyTuple, type KeyValue } from "./key-tuple.ts";
export type { Links } from "./links.ts";
export type { Direction, Order } from "./order.ts";
export {
  InvalidCursorError,
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
