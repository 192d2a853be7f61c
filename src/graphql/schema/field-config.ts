import type {
  GraphQLArgumentConfig,
  GraphQLFieldConfig,
  GraphQLFieldConfigArgumentMap,
  GraphQLOutputType,
} from "graphql";
import type { FieldDeclaration } from "../fields/field-declaration.ts";
import { fieldExtensions } from "../fields/field-options.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import type { AnyRef, ArgNode } from "../types/type-node.ts";
import { checkName } from "../types/type-options.ts";
import { type ArgPlan, compileProperty, compileResolver } from "./compile-resolver.ts";
import type { InputCompletion } from "./input-completion.ts";

/** A field with its key and, for a root, the instance whose member it is. */
export interface PlacedField {
  readonly key: string;
  readonly field: FieldDeclaration;
  readonly receiver: object | null;
}

/** The types of the schema that a field is built for. */
export interface FieldTypes {
  readonly completion: InputCompletion;
  output(place: string, ref: AnyRef): GraphQLOutputType;
  input(place: string, arg: ArgNode): GraphQLArgumentConfig;
}

/** Builds the configuration of a field for graphql. `place` is its coordinate, `Book.author`. */
export function fieldConfig(
  place: string,
  { key, field, receiver }: PlacedField,
  types: FieldTypes,
): GraphQLFieldConfig<unknown, GraphContext> {
  const { options } = field;
  const { args, plans } = readArgs(place, field, types);
  return {
    type: types.output(place, field.type),
    args,
    description: options.description,
    deprecationReason: options.deprecationReason,
    extensions: fieldExtensions(options),
    ...resolverConfig(key, field, plans, receiver),
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
    checkName(`${place}(${name}:)`, name);
    if (Object.hasOwn(args, name)) throw new ResolverError(place, `has two arguments named ${name}`);
    args[name] = types.input(`${place}(${name}:)`, arg);
    return { key: arg.key, name, complete: types.completion.of(`the argument ${name}`, arg) };
  });
  return { args, plans };
}

function resolverConfig(
  key: string,
  field: FieldDeclaration,
  plans: readonly ArgPlan[],
  receiver: object | null,
): Pick<GraphQLFieldConfig<unknown, GraphContext>, "resolve" | "subscribe"> {
  if (field.resolver !== null) {
    const resolve = compileResolver(field, plans, receiver);
    return field.operation === "subscription" ? { subscribe: resolve, resolve: (event) => event } : { resolve };
  }
  const property = field.member ?? key;
  // graphql's default resolver reads a property that has no gate, no limit and no other name.
  const isBare = field.gates.length === 0 && field.options.limit === undefined;
  const isDefault = isBare && receiver === null && (field.options.name ?? key) === property;
  return isDefault ? {} : { resolve: compileProperty(property, field, receiver) };
}
