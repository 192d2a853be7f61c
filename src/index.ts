export type { PorticoConfig } from "./cli/project/portico-config.ts";
export type { Clock } from "./core/clock.ts";
export { ConfigurationError } from "./core/configuration-error.ts";
export { env } from "./core/env.ts";
export type { ErrorCode } from "./core/error-codes.ts";
export { errorSerializer } from "./core/error-serializer.ts";
export type { Logger } from "./core/logger.ts";
export { PorticoError, type PorticoErrorOptions } from "./core/portico-error.ts";
export { parseSize, type Size } from "./core/size.ts";
export type { Dependency, Provider } from "./dependencies/depend.ts";
export { DependencyError } from "./dependencies/dependency-scope.ts";
export type { AuthorizeOptions } from "./http/access/authorize.ts";
export { every, not, some } from "./http/access/every.ts";
export type { Auth, Gate, RoutePlace } from "./http/access/gate.ts";
export { type Rule, type RuleOptions, rule } from "./http/access/rule.ts";
export { currentContext } from "./http/context/current-context.ts";
export type { ExceptionHandler } from "./http/context/exception-handlers.ts";
export {
  BaseContext,
  type CachePolicy,
  HttpContext,
  identify,
  type Outcome,
  WebSocketContext,
} from "./http/context/http-context.ts";
export type { LoadOptions } from "./http/context/load.ts";
export type { Origin } from "./http/context/origins.ts";
export type { PorticoRequest, RequestScope } from "./http/context/portico-request.ts";
export type { CookieOptions, PorticoResponse, StreamSource, TypedResponse } from "./http/context/portico-response.ts";
export type { Schema } from "./http/context/schema.ts";
export type { Socket, SocketMessage } from "./http/context/socket.ts";
export type { InjectRequest, InjectResponse } from "./http/engine/engine.ts";
export * from "./http/exceptions/http-exception.ts";
export type { RequestEvent, RequestHook } from "./http/hooks/request-hooks.ts";
export { type AssuranceLevel, type Credential, type Revocation, revoked } from "./http/identity/credential.ts";
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
} from "./http/identity/identity.ts";
export type { DeviceSession, LoginOptions, SessionManager } from "./http/identity/session-manager.ts";
export { userChanged } from "./http/identity/user-changed.ts";
export type { BudgetOptions } from "./http/limits/budget.ts";
export { type RateLimit, type RateLimitOptions, rateLimit } from "./http/limits/rate-limit.ts";
export { Depend, provide } from "./http/routing/depend.ts";
export type { Middleware, MiddlewareFunction, MiddlewareObject, Next } from "./http/routing/middleware.ts";
export type { Method, RouteOptions } from "./http/routing/route.ts";
export { type Preset, Router, type RouterOptions } from "./http/routing/router.ts";
export type { SocketOptions } from "./http/routing/socket-route.ts";
export type { HealthCheck, HealthOptions } from "./http/serving/health-routes.ts";
export { Metrics, type MetricsFigures, type MetricsRecord } from "./observe/metrics.ts";
export {
  type OpenTelemetryHook,
  type OpenTelemetryOptions,
  type OperationSpan,
  type OperationTracer,
  opentelemetry,
} from "./observe/opentelemetry.ts";
export { type OperationsPageOptions, operationsPage } from "./observe/operations-page/operations-page.ts";
export { type PrometheusHook, type PrometheusOptions, prometheus } from "./observe/prometheus.ts";
export type { OpenApiDocument, OpenApiSecurityScheme } from "./openapi/open-api-document.ts";
export type { OpenApiOptions } from "./openapi/open-api-options.ts";
export {
  type Condition,
  type ConditionValue,
  isEqual,
  isIn,
  isNull,
  type RelatedRows,
} from "./pagination/condition.ts";
export { type Address, type LifeCycleHook, PorticoApp } from "./portico-app.ts";
export type { LogOptions, PorticoAppOptions, ShutdownOptions, TimeoutOptions } from "./portico-app-options.ts";
export type { Count, CounterStore, Reservation } from "./stores/counter-store.ts";
export type { KeyValueStore } from "./stores/key-value-store.ts";
export { type PubSub, PubSubGap, type SubscribeOptions, type Topic, topic } from "./stores/pub-sub.ts";
export type { StoreLifeCycle } from "./stores/store-life-cycle.ts";
export { memoryStores, type Stores } from "./stores/stores.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "./types/index.ts";
