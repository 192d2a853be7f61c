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
export type { AnySubject, CheckSubjects, GivenOf, Subject } from "../dependencies/subject.ts";
export type { FastifyHostRequest, HostRequest, HostResponse } from "../http/engine/host-exchange.ts";
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
export type { SchemaInput, SchemaOutput } from "../http/routing/schema.ts";
export type { SocketHandler, SocketHandlerArgs } from "../http/routing/socket-route.ts";
export type { Member, PlaceOf, ScopeOf } from "../kernel/access/every.ts";
export type { Behind, GateScope, GateUser, IsRequired } from "../kernel/access/gate.ts";
export type { RuleParts } from "../kernel/access/gate-node.ts";
export type { CheckRouteGate, RouteAuth } from "../kernel/access/read-gate.ts";
export type { RouteGiven, RouteParams, SocketParams } from "../kernel/context/depend.ts";
export type { ErrorClass } from "../kernel/context/exception-handlers.ts";
export type { RawPath, RawQuery } from "../kernel/exchange/exchange.ts";
export type { RequestAround, RequestFunction } from "../kernel/hooks/request-hooks.ts";
export type { IdempotentOption } from "../kernel/idempotency/idempotent.ts";
export type { KeepingTransaction } from "../kernel/idempotency/response-store.ts";
export type { Misfit } from "../kernel/identity/identity.ts";
export type { OperationFigures, RouteFigures } from "../observe/metrics-figures.ts";
export type { ObservedOperation, ObservedResult, ObservedStatement } from "../observe/observed-operation.ts";
export type { ActiveOperationTracer, ObservedEnd } from "../observe/opentelemetry.ts";
export type { Percentiles, TotalsRecord } from "../observe/running-totals.ts";
export type { Saturation } from "../observe/saturation.ts";
export type {
  JSONSchema,
  OpenAPIComponents,
  OpenAPIContent,
  OpenAPIInfo,
  OpenAPIMethod,
  OpenAPIOperation,
  OpenAPIParameter,
  OpenAPIPath,
  OpenAPIRequestBody,
  OpenAPIResponse,
  OpenAPISecurityRequirement,
  OpenAPIServer,
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
