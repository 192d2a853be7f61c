export {
  type ConnectionResolverOptions,
  connectionResolver,
  type ResolvedConnection,
} from "./adopt/connection-resolver.ts";
export { inject } from "./adopt/inject.ts";
export { type ConnectionOptions, connection } from "./connection/connection.ts";
export type { DocumentSource, DocumentsOptions } from "./documents/documents.ts";
export type { FormattedError } from "./errors/format-error.ts";
export { Graph, type GraphOptions, type GraphRules } from "./graph.ts";

import * as t from "./types/t.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../types/graphql/index.ts";
export type { Args, Params } from "./fields/args.ts";
export { field, mutation, subscription } from "./fields/field.ts";
export type { FieldDef } from "./fields/field-def.ts";
export type { FieldOptions, FieldPermission, ListSize, Of, SubscriptionOptions } from "./fields/field-options.ts";
export { type DeniedCode, GraphQLDenied } from "./fields/graphql-denied.ts";
export { Info } from "./fields/info.ts";
export { type Batch, type Loader, loader } from "./fields/loader.ts";
export { ResolverError } from "./fields/resolver-error.ts";
export type { FieldTiming, FieldTrace } from "./hooks/field-trace.ts";
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
export { nodeKey } from "./nodes/node-key.ts";
export type { NodeOptions } from "./nodes/node-source.ts";
export { GraphContext } from "./operation/graph-context.ts";
export { printSchema } from "./schema/print-schema.ts";
export { type SchemaConfig, schema } from "./schema/schema.ts";
export type { SubscriptionsOptions } from "./subscriptions/subscriptions.ts";
export { Transport, type TransportOptions } from "./transport/transport.ts";
export type { ArgOptions } from "./types/arg.ts";
export type { Directive, DirectiveOptions } from "./types/directive.ts";
export type { EnumType, EnumValueOptions } from "./types/enum-type.ts";
export type { GraphType, InOf, OutOf } from "./types/graph-type.ts";
export type { InputType } from "./types/input-type.ts";
export type { InterfaceOptions, InterfaceType } from "./types/interface-type.ts";
export { type ObjectOptions, type ObjectType, object } from "./types/object-type.ts";
export type { Scalar, ScalarOptions } from "./types/scalar.ts";
export type { UnionOptions, UnionType } from "./types/union-type.ts";
export type { Upload } from "./types/upload.ts";
export { Uploads, type UploadsOptions } from "./uploads/uploads.ts";
export { t };
