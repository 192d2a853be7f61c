export type { ConnectionFactory, NoParent, ReferredParent } from "../../graphql/connection/connection.ts";
export type {
  Ambient,
  Declared,
  FieldGiven,
  InjectedParam,
  Param,
  ParamOf,
  ResolverArgs,
  SignedIn,
  TestArgs,
  Undeclared,
} from "../../graphql/declare/fields/args.ts";
export type { FieldFunction, MutationFunction } from "../../graphql/declare/fields/field.ts";
export type { Operation } from "../../graphql/declare/fields/field-declaration.ts";
export type {
  FieldFactory,
  PropertyField,
  SubscriptionFactory,
} from "../../graphql/declare/fields/field-def.ts";
export type { FieldAuth, GateArgs, GateInput, IsGated } from "../../graphql/declare/fields/field-options.ts";
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
} from "../../graphql/declare/references/graph-type.ts";
export type { AppliedDirective } from "../../graphql/declare/references/type-node.ts";
export type { GatedTypeOptions, TypeOptions, TypePlace } from "../../graphql/declare/references/type-options.ts";
export type { Accepting, DefaultOf, ValidatedType } from "../../graphql/declare/references/validated-type.ts";
export type { DirectiveArgs, OmittableArgs } from "../../graphql/declare/types/directive.ts";
export type { EnumValueOf, EnumValues } from "../../graphql/declare/types/enum-type.ts";
export type { CheckField, CheckFields, FieldMap, ResultOf } from "../../graphql/declare/types/field-map.ts";
export type { InputFields, InputOf, OneOf, OptionalKeys, Simplify } from "../../graphql/declare/types/input-type.ts";
export type { Implementable } from "../../graphql/declare/types/interface-type.ts";
export type { ListType, NullableType, OptionalType, RefType } from "../../graphql/declare/types/list-type.ts";
export type { UnionMember } from "../../graphql/declare/types/union-type.ts";
export type { OperationFindings } from "../../graphql/hooks/operation-hook.ts";
export type { WarningLogger } from "../../graphql/hooks/operation-log.ts";
export type { IDEAssets } from "../../graphql/ide/ide.ts";
export type { OperationFacts } from "../../graphql/operation/graph-context.ts";
export type { CheckRoot, CheckRootField, RootSource } from "../../graphql/schema/root-fields.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../index.ts";
