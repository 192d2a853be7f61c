import {
  type DirectiveLocation,
  defaultFieldResolver,
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLOutputType,
  isNonNullType,
} from "graphql";
import { isProduction } from "../../core/env.ts";
import { checkNeedsNoObject } from "../../kernel/access/read-gate.ts";
import { inField } from "../../kernel/hooks/current-field.ts";
import type { FieldDeclaration } from "../declare/fields/field-declaration.ts";
import { fieldExtensions } from "../declare/fields/field-options.ts";
import { resumeExtensions } from "../declare/fields/follow-topic.ts";
import { gateExtensions, objectExtensions } from "../declare/fields/gate-extensions.ts";
import { idempotentExtensions } from "../declare/fields/idempotent-extensions.ts";
import { limitExtensions } from "../declare/fields/limit-extensions.ts";
import { fieldReads, noteProperty, noteReads, withReadsOf } from "../declare/fields/reads-of.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { AnyRef, AppliedDirective, ArgNode } from "../declare/references/type-node.ts";
import { checkName } from "../declare/references/type-options.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { checked, compileProperty, compileResolver, type Resolve, type ResultCheck } from "./compile-resolver.ts";
import type { InputCompletion } from "./input-completion.ts";
import type { InputValidation } from "./input-validation.ts";
import { resultCheck, screened } from "./result-check.ts";
import type { TypeGuard } from "./type-guard.ts";
import type { ArgPlan } from "./validated-args.ts";

/** A field with its key and, for a root, the instance whose member it is. */
export interface PlacedField {
  readonly key: string;
  readonly field: FieldDeclaration;
  readonly receiver: object | null;
}

/** The types of the schema that a field is built for. */
export interface FieldTypes {
  readonly completion: InputCompletion;
  readonly validation: InputValidation;
  output(place: string, ref: AnyRef): GraphQLOutputType;
  /** The guard of a result of this type; `null` if no type in it has a gate. */
  guard(place: string, ref: AnyRef, isWhole: boolean): TypeGuard | null;
  /** Whether a field may be null although its resolver must not return null. */
  isNullable(place: string, field: FieldDeclaration): boolean;
  input(place: string, arg: ArgNode): GraphQLArgumentConfig;
  /** The extensions of a place with these directives. */
  marks(
    place: string,
    location: `${DirectiveLocation}`,
    directives: readonly AppliedDirective[] | undefined,
  ): Readonly<Record<string, unknown>>;
}

/**
 * Builds the configuration of a field for graphql. `place` is its coordinate, `Book.author`. A field with a gate, and one
 * whose objects have a gate, is nullable, although its resolver must not return null.
 *
 * @param isOptional whether it is nullable because an object redeclares this field of an interface with a gate
 */
export function fieldConfig(
  place: string,
  { key, field, receiver }: PlacedField,
  types: FieldTypes,
  isOptional = false,
): GraphQLFieldConfig<unknown, GraphContext> {
  const { options } = field;
  field.check?.(place);
  const { args, plans } = readArgs(place, field, types);
  const guard = types.guard(place, field.type, field.operation === "mutation");
  const declared = types.output(place, field.type);
  const isPresent = (isOptional || types.isNullable(place, field)) && isNonNullType(declared);
  const check = resultCheck(place, { isPresent, guard, isMutation: field.operation === "mutation" });
  return {
    type: isPresent ? declared.ofType : declared,
    args,
    description: options.description,
    deprecationReason: options.deprecationReason,
    extensions: {
      ...fieldExtensions(options),
      ...gateExtensions(field.gates),
      ...objectExtensions(field.params.injected),
      ...limitExtensions(field.limits),
      ...idempotentExtensions(field.idempotent),
      ...resumeExtensions(options.from),
      ...types.marks(place, "FIELD_DEFINITION", options.directives),
    },
    ...resolverConfig(place, key, field, plans, receiver, check, guard),
  };
}

/** Builds the configuration of a root field, which has no object for a rule to decide about. */
export function rootConfig(
  place: string,
  placed: PlacedField,
  types: FieldTypes,
): GraphQLFieldConfig<unknown, GraphContext> {
  for (const gate of placed.field.gates)
    checkNeedsNoObject(`${place}.auth`, gate, "set it on the object type, or call ctx.authorize(rule, object)");
  const config = fieldConfig(place, placed, types);
  if (placed.field.options.shared === true && types.guard(place, placed.field.type, false) !== null)
    throw new ResolverError(place, "cannot be shared: the gate of its type decides for each caller");
  return config;
}

/** Builds the configuration of a field that exposes the property of its name, as graphql reads it. */
export function propertyConfig(
  place: string,
  name: string,
  ref: AnyRef,
  types: FieldTypes,
  isOptional: boolean,
): GraphQLFieldConfig<unknown, GraphContext> {
  const declared = types.output(place, ref);
  const guard = types.guard(place, ref, false);
  const isPresent = (isOptional || guard !== null) && isNonNullType(declared);
  const check = resultCheck(place, { isPresent, guard, isMutation: false });
  return {
    type: isPresent ? declared.ofType : declared,
    ...(check === null ? {} : { resolve: withReadsOf({ name }, checked(defaultFieldResolver as Resolve, check)) }),
  };
}

function readArgs(
  place: string,
  { params }: FieldDeclaration,
  types: FieldTypes,
): { readonly args: GraphQLFieldConfigArgumentMap; readonly plans: readonly ArgPlan[] } {
  const args: GraphQLFieldConfigArgumentMap = {};
  const plans = params.args.map((arg): ArgPlan => {
    const name = arg.name ?? arg.key;
    const coordinate = `${place}(${name}:)`;
    checkName(coordinate, name);
    if (Object.hasOwn(args, name)) throw new ResolverError(place, `has two arguments named ${name}`);
    args[name] = types.input(coordinate, arg);
    const complete = types.completion.of(`the argument ${name}`, arg);
    return { key: arg.key, name, complete, validate: types.validation.of(coordinate, arg.type) };
  });
  return { args, plans };
}

function resolverConfig(
  place: string,
  key: string,
  field: FieldDeclaration,
  plans: readonly ArgPlan[],
  receiver: object | null,
  check: ResultCheck | null,
  guard: TypeGuard | null,
): Pick<GraphQLFieldConfig<unknown, GraphContext>, "resolve" | "subscribe"> {
  if (field.operation === "subscription") {
    const subscribe = screened(compileResolver(field, plans, receiver, null), guard);
    return { subscribe, resolve: checked((event) => event, check) };
  }
  const isConnection = field.options.extensions?.["isConnection"] === true;
  const property = field.member ?? key;
  const reads = fieldReads(field, property);
  if (field.resolver !== null)
    return { resolve: noteReads(tracked(place, isConnection, compileResolver(field, plans, receiver, check)), reads) };
  // graphql's default resolver reads a property that has no gate, no limit and no other name.
  const isBare = field.gates.length === 0 && field.limits.length === 0 && check === null;
  const isDefault = isBare && receiver === null && (field.options.name ?? key) === property;
  if (isDefault) return {};
  const resolve = tracked(place, false, compileProperty(property, field, receiver, check));
  return { resolve: noteProperty(noteReads(resolve, reads), property) };
}

/**
 * Lets statements that a resolver sends be attributed to its field: see `trackFields`. In production, it returns the
 * resolver itself.
 *
 * @param coordinate the type and the name of the field
 */
function tracked(coordinate: string, isConnection: boolean, resolve: Resolve): Resolve {
  if (isProduction()) return resolve;
  const field = { coordinate, isConnection };
  return (source, raw, graph, info) => inField(field, () => resolve(source, raw, graph, info));
}
