export type { ConnectionFactory, NoParent, ReferredParent } from "../../graphql/connection/connection.ts";
export type {
  Ambient,
  Declared,
  InjectedParam,
  Param,
  ParamOf,
  ResolverArgs,
  SignedIn,
  TestArgs,
  Undeclared,
} from "../../graphql/fields/args.ts";
export type { FieldFunction } from "../../graphql/fields/field.ts";
export type { FieldFactory, Operation, PropertyField, SubscriptionFactory } from "../../graphql/fields/field-def.ts";
export type { FieldAuth, GateArgs, GateInput, IsGated } from "../../graphql/fields/field-options.ts";
export type { OperationFindings } from "../../graphql/hooks/operation-hook.ts";
export type { WarningLogger } from "../../graphql/hooks/operation-log.ts";
export type { IDEAssets } from "../../graphql/ide/ide.ts";
export type { OperationFacts } from "../../graphql/operation/graph-context.ts";
export type { CheckRoot, CheckRootField, RootSource } from "../../graphql/schema/root-fields.ts";
export type { DirectiveArgs, OmittableArgs } from "../../graphql/types/directive.ts";
export type { EnumValueOf, EnumValues } from "../../graphql/types/enum-type.ts";
export type { CheckField, CheckFields, FieldMap, ResultOf } from "../../graphql/types/field-map.ts";
export type {
  Arg,
  ArgRef,
  ArgType,
  Class,
  InnerRef,
  InnerType,
  OutputRef,
  OutputType,
  TypeKind,
} from "../../graphql/types/graph-type.ts";
export type { InputFields, InputOf, OneOf, OptionalKeys, Simplify } from "../../graphql/types/input-type.ts";
export type { Implementable } from "../../graphql/types/interface-type.ts";
export type { ListType, NullableType, OptionalType, RefType } from "../../graphql/types/list-type.ts";
export type { AppliedDirective } from "../../graphql/types/type-node.ts";
export type { GatedTypeOptions, TypeOptions, TypePlace } from "../../graphql/types/type-options.ts";
export type { UnionMember } from "../../graphql/types/union-type.ts";
export type { Accepting, DefaultOf, ValidatedType } from "../../graphql/types/validated-type.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../index.ts";
