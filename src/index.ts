export type { PorticoConfig } from "./cli/project/portico-config.ts";
export type { Clock } from "./core/clock.ts";
export { ConfigurationError } from "./core/configuration-error.ts";
export { env } from "./core/env.ts";
export type { ErrorCode } from "./core/error-codes.ts";
export { errorSerializer } from "./core/log/error-serializer.ts";
export type { Logger } from "./core/logger.ts";
export type { Figure } from "./core/parts/parts.ts";
export { PorticoError, type PorticoErrorOptions } from "./core/portico-error.ts";
export { parseSize, type Size } from "./core/size.ts";
export type { Dependency, Provider } from "./dependencies/depend.ts";
export { DependencyError } from "./dependencies/dependency-scope.ts";
export type { InjectRequest, InjectResponse } from "./http/engine/engine.ts";
export type { BrandOptions } from "./http/html/brand.ts";
export { englishTexts, type PageTexts } from "./http/html/page-texts.ts";
export type { Origin } from "./http/messages/origins.ts";
export type { Middleware, MiddlewareCheck, MiddlewareObject } from "./http/routing/middleware.ts";
export type { Method, RouteOptions } from "./http/routing/route.ts";
export { type Preset, Router, type RouterOptions } from "./http/routing/router.ts";
export type { Schema } from "./http/routing/schema.ts";
export type { SocketOptions } from "./http/routing/socket-route.ts";
export type { HealthCheck } from "./http/serving/health-checks.ts";
export type { HealthOptions } from "./http/serving/health-routes.ts";
export {
  type AuthorizedFunction,
  type AuthorizedObject,
  type AuthorizedOptions,
  authorized,
} from "./kernel/access/authorized.ts";
export { every, not, some } from "./kernel/access/every.ts";
export type { Auth, Gate, RoutePlace } from "./kernel/access/gate.ts";
export { type Rule, type RuleOptions, rule } from "./kernel/access/rule.ts";
export { currentContext } from "./kernel/context/current-context.ts";
export type { AuthorizeOptions } from "./kernel/context/decisions.ts";
export { Depend, provide } from "./kernel/context/depend.ts";
export type { ExceptionHandler } from "./kernel/context/exception-handlers.ts";
export {
  BaseContext,
  type CachePolicy,
  HttpContext,
  identify,
  type Outcome,
  WebSocketContext,
} from "./kernel/context/http-context.ts";
export type { MiddlewareFunction, Next } from "./kernel/context/middleware-function.ts";
export type { PorticoRequest, RequestScope } from "./kernel/context/portico-request.ts";
export type { CookieOptions, PorticoResponse, StreamSource, TypedResponse } from "./kernel/context/portico-response.ts";
export * from "./kernel/exceptions/http-exception.ts";
export type { Socket, SocketMessage } from "./kernel/exchange/socket.ts";
export type { RequestEvent, RequestHook, WatchFigures } from "./kernel/hooks/request-hooks.ts";
export type { IdempotentOptions } from "./kernel/idempotency/idempotent.ts";
export { type AssuranceLevel, type Credential, type Revocation, revoked } from "./kernel/identity/credential.ts";
export {
  AnonymousUser,
  type AuthScope,
  type Caller,
  type CurrentUser,
  type Identity,
  type Permission,
  type Permissions,
  type Register,
  type Scopes,
  type UserProtocol,
} from "./kernel/identity/identity.ts";
export type { DeviceSession, LoginOptions, SessionManager } from "./kernel/identity/session-manager.ts";
export { userChanged } from "./kernel/identity/user-changed.ts";
export type { BudgetOptions } from "./kernel/limits/budget.ts";
export { type RateLimit, type RateLimitOptions, rateLimit } from "./kernel/limits/rate-limit.ts";
export type { LoadOptions } from "./kernel/load/load.ts";
export { Metrics } from "./observe/metrics.ts";
export type { MetricsFigures, MetricsRecord } from "./observe/metrics-figures.ts";
export {
  type OpenTelemetryHook,
  type OpenTelemetryOptions,
  type OperationSpan,
  type OperationTracer,
  opentelemetry,
} from "./observe/opentelemetry.ts";
export { type OperationsPageOptions, operationsPage } from "./observe/operations-page/operations-page.ts";
export { type PrometheusHook, type PrometheusOptions, prometheus } from "./observe/prometheus.ts";
export type { OpenAPIDocument, OpenAPISecurityScheme } from "./openapi/open-api-document.ts";
export type { OpenAPIOptions } from "./openapi/open-api-options.ts";
export type { ColumnReference } from "./pagination/conditions/column.ts";
export { column } from "./pagination/conditions/column.ts";
export type { Condition, ConditionValue } from "./pagination/conditions/condition.ts";
export { exists, type RelatedRow, type RelatedRows } from "./pagination/conditions/exists.ts";
export { isEqual, isIn, isNotNull, isNull } from "./pagination/conditions/is-equal.ts";
export { isInRange, type RangeBounds } from "./pagination/conditions/is-in-range.ts";
export { startsWith } from "./pagination/conditions/starts-with.ts";
export { type Address, type LifeCycleHook, PorticoApp } from "./portico-app.ts";
export type {
  LogOptions,
  PorticoAppOptions,
  ReadinessOptions,
  ShutdownOptions,
  TimeoutOptions,
} from "./portico-app-options.ts";
export type { Count, CounterStore, Reservation } from "./stores/counter-store.ts";
export type { KeyValueStore } from "./stores/key-value-store.ts";
export {
  type Keep,
  type PubSub,
  PubSubGap,
  type SubscribeOptions,
  type Topic,
  type TopicOptions,
  topic,
} from "./stores/pub-sub.ts";
export type { StoreLifeCycle } from "./stores/store-life-cycle.ts";
export { memoryStores, type Stores } from "./stores/stores.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "./types/index.ts";
