export { type ConnectionFactory, type ConnectionOptions, connection } from "./connection/connection.ts";
export type { DocumentSource, DocumentsOptions } from "./documents/documents.ts";
export type { FormattedError } from "./errors/format-error.ts";
export { Graph, type GraphOptions } from "./graph.ts";

import * as t from "./language/t.ts";

export { GraphContext, type OperationFacts } from "./graph-context.ts";
export type { FieldTiming, FieldTrace } from "./hooks/field-trace.ts";
export { Metrics, type MetricsRecord } from "./hooks/metrics.ts";
export {
  type ActiveOperationTracer,
  type OpenTelemetryOptions,
  type OperationSpan,
  type OperationTracer,
  opentelemetry,
} from "./hooks/opentelemetry.ts";
export type {
  OperationAround,
  OperationContext,
  OperationEnd,
  OperationFindings,
  OperationFunction,
  OperationHook,
  OperationResult,
} from "./hooks/operation-hook.ts";
export { OperationLog, type OperationLogOptions, type WarningLogger } from "./hooks/operation-log.ts";
export { type PrometheusHook, type PrometheusOptions, prometheus } from "./hooks/prometheus.ts";
export { IDE, type IDEAssets, type IDEOptions } from "./ide/ide.ts";
export type { ArgOptions } from "./language/arg.ts";
export type {
  Ambient,
  Args,
  Declared,
  InjectedParam,
  Param,
  ParamOf,
  Params,
  ResolverArgs,
  SignedIn,
  TestArgs,
  Undeclared,
} from "./language/args.ts";
export { type DeniedCode, GraphQLDenied } from "./language/denied.ts";
export type { EnumType, EnumValueOptions } from "./language/enum.ts";
export { type FieldFunction, field, mutation, subscription } from "./language/field.ts";
export type { FieldDef, FieldFactory, Operation, PropertyField, SubscriptionFactory } from "./language/field-def.ts";
export type {
  FieldOptions,
  FieldPermission,
  GateArgs,
  GateInput,
  IsGated,
  ListSize,
  Of,
  SubscriptionOptions,
} from "./language/field-options.ts";
export { Info } from "./language/info.ts";
export type { InputFields, InputOf, InputType, OneOf, OptionalKeys, Simplify } from "./language/input.ts";
export type { Implementable, InterfaceOptions, InterfaceType } from "./language/interface.ts";
export type { ListType, NullableType, OptionalType, RefType } from "./language/list.ts";
export { type Batch, type Loader, loader } from "./language/loader.ts";
export { type ObjectOptions, type ObjectType, object } from "./language/object.ts";
export type { CheckField, CheckFields, FieldMap, ResultOf } from "./language/object-fields.ts";
export { printSchema } from "./language/print-schema.ts";
export { ResolverError } from "./language/resolver-error.ts";
export type { CheckRoot, CheckRootField, RootSource } from "./language/root.ts";
export type { Scalar, ScalarOptions } from "./language/scalar.ts";
export { type SchemaConfig, schema } from "./language/schema.ts";
export type {
  Arg,
  ArgRef,
  ArgType,
  Class,
  GraphType,
  InnerRef,
  InnerType,
  InOf,
  OutOf,
  OutputRef,
  OutputType,
  TypeKind,
} from "./language/type.ts";
export type { TypeOptions } from "./language/type-options.ts";
export type { UnionMember, UnionOptions, UnionType } from "./language/union.ts";
export type { Upload } from "./language/upload.ts";
export { Limits, type LimitsOptions } from "./limits/limits.ts";
export { type OperationsPageOptions, operationsPage } from "./operations-page/operations-page.ts";
export type { SubscriptionsOptions } from "./subscriptions/subscriptions.ts";
export { Transport, type TransportOptions } from "./transport/transport.ts";
export { Uploads, type UploadsOptions } from "./uploads/uploads.ts";
export { t };
