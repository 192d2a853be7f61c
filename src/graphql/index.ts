export {
  type ConnectionResolverOptions,
  connectionResolver,
  type NestedConnectionResolverOptions,
  type ResolvedConnection,
} from "./adopt/connection-resolver.ts";
export { inject } from "./adopt/inject.ts";
export { type ConnectionOptions, connection } from "./connection/connection.ts";
export type { DocumentSource, DocumentsOptions } from "./documents/documents.ts";
export type { ErrorDetails, ErrorFormatter, UnmaskedErrorFormatter } from "./errors/error-format.ts";
export type { FormattedError } from "./errors/formatted-error.ts";
export { Graph } from "./graph/graph.ts";
export type { GraphOptions, GraphRules } from "./graph/graph-options.ts";

import * as t from "./declare/types/t.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../types/graphql/index.ts";
export type { Args, Params } from "./declare/fields/args.ts";
export { field, mutation, subscription } from "./declare/fields/field.ts";
export type { FieldDef } from "./declare/fields/field-def.ts";
export type {
  FieldOptions,
  FieldPermission,
  ListSize,
  MutationOptions,
  Of,
  SubscriptionOptions,
} from "./declare/fields/field-options.ts";
export { Info } from "./declare/fields/info.ts";
export type { ArgOptions } from "./declare/references/arg.ts";
export type { GraphType, InOf, OutOf } from "./declare/references/graph-type.ts";
export { ResolverError } from "./declare/references/resolver-error.ts";
export type { Directive, DirectiveOptions } from "./declare/types/directive.ts";
export type { EnumType, EnumValueOptions } from "./declare/types/enum-type.ts";
export type { InputType } from "./declare/types/input-type.ts";
export type { InterfaceOptions, InterfaceType } from "./declare/types/interface-type.ts";
export { nodeKey } from "./declare/types/node-key.ts";
export type { NodeOptions } from "./declare/types/node-source.ts";
export { type ObjectOptions, type ObjectType, object } from "./declare/types/object-type.ts";
export type { Scalar, ScalarOptions } from "./declare/types/scalar.ts";
export type { UnionOptions, UnionType } from "./declare/types/union-type.ts";
export type { Upload } from "./declare/types/upload.ts";
export { type DeniedCode, GraphQLDenied } from "./errors/graphql-denied.ts";
export type {
  OperationAround,
  OperationContext,
  OperationEnd,
  OperationFunction,
  OperationHook,
  OperationResult,
} from "./hooks/operation-hook.ts";
export { OperationLog, type OperationLogOptions } from "./hooks/operation-log.ts";
export { IDE, type IDEOptions } from "./ide/ide.ts";
export { Limits, type LimitsOptions } from "./limits/limits.ts";
export type { FieldTiming, FieldTrace } from "./operation/field-trace.ts";
export { GraphContext } from "./operation/graph-context.ts";
export { type Batch, type Loader, loader } from "./operation/loader.ts";
export { printSchema } from "./schema/print-schema.ts";
export { type SchemaConfig, schema } from "./schema/schema.ts";
export type { SubscriptionsOptions } from "./subscriptions/subscriptions.ts";
export { Transport, type TransportOptions } from "./transport/transport.ts";
export { Uploads, type UploadsOptions } from "./uploads/uploads.ts";
export { t };
