export { type Address, type LifeCycleHook, PorticoApp, type Replacement } from "./app.ts";
export type { LogOptions, PorticoAppOptions, ShutdownOptions, TimeoutOptions } from "./app-options.ts";
export type { Clock } from "./core/clock.ts";
export { ConfigurationError } from "./core/configuration-error.ts";
export { env } from "./core/env.ts";
export { PorticoError, type PorticoErrorOptions } from "./core/error.ts";
export type { ErrorCode } from "./core/error-codes.ts";
export { errorSerializer } from "./core/error-serializer.ts";
export type { Logger, LogLine } from "./core/logger.ts";
export type { MaybePromise } from "./core/maybe-promise.ts";
export { parseSize, type Size } from "./core/size.ts";
export type {
  Callable,
  ContextClass,
  Dependency,
  DependFunction,
  Injectable,
  Injected,
  InjectedOf,
  InjectParams,
  ProvideFunction,
  Provider,
  ProviderAmbient,
  ProviderArgs,
  Reserved,
  Unwrap,
} from "./dependencies/depend.ts";
export { DependencyError } from "./dependencies/scope.ts";
export {
  BaseContext,
  type CachePolicy,
  HttpContext,
  identify,
  type Outcome,
  WebSocketContext,
} from "./http/context.ts";
export { type Credential, type Revocation, revoked } from "./http/credential.ts";
export { currentContext } from "./http/current-context.ts";
export type { InjectRequest, InjectResponse } from "./http/engine.ts";
export type { ErrorClass, ExceptionHandler } from "./http/exception-handlers.ts";
export * from "./http/exceptions.ts";
export type { HealthCheck, HealthOptions } from "./http/health.ts";
export {
  AnonymousUser,
  type AuthScope,
  type Caller,
  type CurrentUser,
  type Gate,
  type GateScope,
  type GateUser,
  type Identity,
  type Misfit,
  type Permission,
  type Permissions,
  type Register,
  type Scopes,
  type UserProtocol,
} from "./http/identity.ts";
export { Depend, provide, type RouteParams } from "./http/inject.ts";
export type { LoadOptions } from "./http/load.ts";
export type { Middleware, MiddlewareFunction, MiddlewareObject, Next } from "./http/middleware.ts";
export type { Origin } from "./http/origins.ts";
export type { OptionalParams, ParamName, PathParams, PathSegments } from "./http/path.ts";
export { type RateLimit, type RateLimitOptions, rateLimit } from "./http/rate-limit.ts";
export type { PorticoRequest, RawPath, RawQuery, RequestScope } from "./http/request.ts";
export type { CookieOptions, PorticoResponse, StreamSource, TypedResponse } from "./http/response.ts";
export type {
  Handler,
  HandlerAmbient,
  HandlerAnswer,
  HandlerArgs,
  Method,
  PaginatedRoute,
  ResponseSchemas,
  RouteErrors,
  RouteOptions,
  StatusAnswer,
} from "./http/route.ts";
export { type Preset, type RouteMethod, Router, type RouterOptions, type SocketMethod } from "./http/router.ts";
export type { Schema, SchemaInput, SchemaOutput } from "./http/schema.ts";
export type { DeviceSession, LoginOptions, SessionManager } from "./http/sessions.ts";
export type { Socket, SocketMessage } from "./http/socket.ts";
export type { SocketHandler, SocketHandlerArgs, SocketOptions } from "./http/socket-route.ts";
export type * from "./openapi/open-api-document.ts";
export type { OpenApiOptions } from "./openapi/options.ts";
export type { Count, CounterStore } from "./stores/counter.ts";
export type { KeyValueStore } from "./stores/key-value.ts";
export {
  type Arriving,
  type CheckEvent,
  type Lost,
  type PubSub,
  PubSubGap,
  type SubscribeOptions,
  type Topic,
  topic,
} from "./stores/pub-sub.ts";
export type { StoreLifeCycle } from "./stores/store-life-cycle.ts";
export { memoryStores, type Stores } from "./stores/stores.ts";
