export type { LogLine } from "../core/logger.ts";
export type { MaybePromise } from "../core/maybe-promise.ts";
export type {
  Callable,
  ContextClass,
  DependFunction,
  Injectable,
  Injected,
  InjectedOf,
  InjectParams,
  ProvideFunction,
  ProviderAmbient,
  ProviderArgs,
  Reserved,
  Unwrap,
} from "../dependencies/depend.ts";
export type { Member, PlaceOf, ScopeOf } from "../http/access/every.ts";
export type { Behind, GateScope, GateUser, IsRequired } from "../http/access/gate.ts";
export type { CheckRouteGate, RouteAuth } from "../http/access/read-gate.ts";
export type { RuleParts } from "../http/access/rule.ts";
export type { ErrorClass } from "../http/context/exception-handlers.ts";
export type { RawPath, RawQuery } from "../http/context/exchange.ts";
export type { SchemaInput, SchemaOutput } from "../http/context/schema.ts";
export type { FastifyHostRequest, HostRequest, HostResponse } from "../http/engine/host-exchange.ts";
export type { RequestAround, RequestFunction } from "../http/hooks/request-hooks.ts";
export type { Misfit } from "../http/identity/identity.ts";
export type { RouteParams } from "../http/routing/depend.ts";
export type { OptionalParams, ParamName, PathParams, PathSegments } from "../http/routing/path-params.ts";
export type {
  Handler,
  HandlerAmbient,
  HandlerAnswer,
  HandlerArgs,
  PaginatedRoute,
  PlainRouteTypes,
  ResponseSchemas,
  RouteErrors,
  RouteTypes,
  StatusAnswer,
} from "../http/routing/route.ts";
export type { RouteMethod, SocketMethod } from "../http/routing/router.ts";
export type { SocketHandler, SocketHandlerArgs } from "../http/routing/socket-route.ts";
export type { OperationFigures, RouteFigures } from "../observe/metrics.ts";
export type { ObservedOperation, ObservedResult, ObservedStatement } from "../observe/observed-operation.ts";
export type { ActiveOperationTracer, ObservedEnd } from "../observe/opentelemetry.ts";
export type { Percentiles, TotalsRecord } from "../observe/totals.ts";
export type {
  JsonSchema,
  OpenApiComponents,
  OpenApiContent,
  OpenApiInfo,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiPath,
  OpenApiRequestBody,
  OpenApiResponse,
  OpenApiSecurityRequirement,
  OpenApiServer,
} from "../openapi/open-api-document.ts";
export type { Spread } from "../pagination/strategies/base-pagination-strategy.ts";
export type { CursorBaseOptions } from "../pagination/strategies/cursor-pagination.ts";
export type {
  MetadataOf,
  PageOf,
  StrategyByName,
  StrategyFor,
  StrategyName,
} from "../pagination/strategies/strategy-by-name.ts";
export type { Replacement } from "../portico-app.ts";
export type { Arriving, CheckEvent, Lost } from "../stores/pub-sub.ts";
