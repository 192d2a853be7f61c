export type { ConditionNode, PresentValue } from "./conditions/condition.ts";
export type { Filterable, FilterOptions } from "./filter/filterable.ts";
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
} from "./handlers/data-handler.ts";
export { AsyncDataHandler, SyncDataHandler } from "./handlers/data-handler.ts";
export {
  AsyncListDataHandler,
  type ListHandlerOptions,
  SyncListDataHandler,
} from "./handlers/sync-list-data-handler.ts";
export type { Totals } from "./handlers/totals.ts";
export { KeyMisfit, type KeyTuple, type KeyValue } from "./keys/key-tuple.ts";
export type { Direction, NullPlacement, Order } from "./keys/order.ts";
export { type WalkBatch, type WalkOptions, walk } from "./pages/walk.ts";
export type { Links } from "./query/links.ts";
export {
  InvalidCursorError,
  InvalidFilterError,
  InvalidPageError,
  InvalidPageSizeError,
  InvalidSortError,
  PaginationError,
  type PaginationErrorOptions,
} from "./query/pagination-error.ts";
export type { ParameterDescription } from "./query/parameter-description.ts";
export type { QueryParams } from "./query/query-params.ts";
export {
  BasePaginationStrategy,
  type Page,
  type PageFacts,
  type PaginationOptions,
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
