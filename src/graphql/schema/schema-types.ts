import {
  astFromValue,
  type DirectiveLocation,
  type GraphQLArgumentConfig,
  type GraphQLDirective,
  GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLUnionType,
  isInputType,
  isOutputType,
} from "graphql";
import { type FieldDeclaration, isDeclaration } from "../declare/fields/field-declaration.ts";
import { gateExtensions } from "../declare/fields/gate-extensions.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type {
  AnyRef,
  AppliedDirective,
  ArgNode,
  InterfaceNode,
  NamedNode,
  ObjectNode,
  UnionNode,
  WrapperNode,
} from "../declare/references/type-node.ts";
import { checkName } from "../declare/references/type-options.ts";
import { interfacesOf, typeGate } from "../declare/types/type-gate.ts";
import { abstractTypeResolver } from "./abstract-type-resolver.ts";
import { type FieldTypes, fieldConfig, type PlacedField, propertyConfig, rootConfig } from "./field-config.ts";
import { InputCompletion } from "./input-completion.ts";
import { checkDefault, InputValidation } from "./input-validation.ts";
import { TypeGates } from "./type-gates.ts";
import type { TypeGuard } from "./type-guard.ts";
import type { TypeNames } from "./type-names.ts";

/** Builds the graphql types of one schema, each of them once. */
export class SchemaTypes implements FieldTypes {
  readonly completion: InputCompletion;
  readonly validation: InputValidation;
  readonly #names: TypeNames;
  readonly #gates: TypeGates;
  readonly #built = new Map<NamedNode, GraphQLNamedType>();

  constructor(names: TypeNames) {
    this.#names = names;
    this.#gates = new TypeGates(names);
    this.completion = new InputCompletion((ref) => names.resolve("an input", ref));
    this.validation = new InputValidation((place, ref) => names.resolve(place, ref));
  }

  /** Every type of the schema, including those that no field refers to. */
  all(): GraphQLNamedType[] {
    return this.#names.nodes().map((node) => this.#named(node));
  }

  /** The directives of the schema besides those of GraphQL itself. */
  directives(): readonly GraphQLDirective[] {
    return this.#names.directives.build(this);
  }

  marks(
    place: string,
    location: `${DirectiveLocation}`,
    directives: readonly AppliedDirective[] | undefined,
  ): Readonly<Record<string, unknown>> {
    return this.#names.directives.extensions(place, location, directives, this);
  }

  root(node: ObjectNode, fields: readonly PlacedField[]): GraphQLObjectType {
    const { name } = node;
    const type = new GraphQLObjectType({
      name,
      fields: () =>
        fieldMap(
          name,
          fields.map((placed) => [
            placed.field.options.name ?? placed.key,
            () => rootConfig(`${name}.${placed.key}`, placed, this),
          ]),
        ),
    });
    this.#built.set(node, type);
    return type;
  }

  output(place: string, ref: AnyRef): GraphQLOutputType {
    const type = this.#type(place, this.#names.resolve(place, ref));
    if (!isOutputType(type))
      throw new ResolverError(
        place,
        `${String(type)} is an input type. The type of a field must be a scalar, an enum, an object, an interface or a union`,
      );
    if (this.validation.of(place, ref) !== null)
      throw new ResolverError(
        place,
        "has a type with a schema, which is for arguments. Use the scalar without the schema",
      );
    return type;
  }

  guard(place: string, ref: AnyRef, isWhole: boolean): TypeGuard | null {
    return this.#gates.guard(place, ref, isWhole);
  }

  isNullable(place: string, field: FieldDeclaration): boolean {
    return this.#gates.isNullable(place, field);
  }

  input(place: string, arg: ArgNode, location: `${DirectiveLocation}` = "ARGUMENT_DEFINITION"): GraphQLArgumentConfig {
    const type = this.#inputType(place, arg.type);
    const { description, deprecationReason } = arg;
    const extensions = this.marks(place, location, arg.directives);
    if (arg.default === undefined) return { type, description, deprecationReason, extensions };
    try {
      astFromValue(arg.default, type);
    } catch (cause) {
      throw new ResolverError(
        place,
        `the default does not match the type ${String(type)}: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
    checkDefault(place, arg.default, this.completion.of(place, arg), this.validation.of(place, arg.type));
    return { type, description, deprecationReason, extensions, defaultValue: arg.default };
  }

  #named(node: NamedNode): GraphQLNamedType {
    const known = this.#built.get(node);
    if (known !== undefined) return known;
    const type = this.#build(node);
    this.#built.set(node, type);
    return type;
  }

  #build(node: NamedNode): GraphQLNamedType {
    const { name } = node;
    switch (node.kind) {
      case "scalar":
        return this.#scalar(node.type, this.marks(name, "SCALAR", node.directives));
      case "enum":
        return new GraphQLEnumType({
          name,
          description: node.description,
          extensions: this.marks(name, "ENUM", node.directives),
          values: Object.fromEntries(
            Object.entries(node.values).map(([key, { directives, ...value }]) => [
              key,
              { ...value, extensions: this.marks(`${name}.${key}`, "ENUM_VALUE", directives) },
            ]),
          ),
        });
      case "input": {
        const { description, isOneOf } = node;
        return new GraphQLInputObjectType({
          name,
          description,
          isOneOf,
          extensions: this.marks(name, "INPUT_OBJECT", node.directives),
          fields: () => this.#inputFields(node.name, node.fields, isOneOf),
        });
      }
      case "object":
        return new GraphQLObjectType({
          ...this.#fielded(node),
          extensions: { ...gateExtensions([typeGate(node)]), ...this.marks(name, "OBJECT", node.directives) },
        });
      case "interface":
        return new GraphQLInterfaceType({
          ...this.#fielded(node),
          extensions: this.marks(name, "INTERFACE", node.directives),
          resolveType: this.#typeResolver(node),
        });
      case "union":
        return new GraphQLUnionType({
          name,
          description: node.description,
          extensions: this.marks(name, "UNION", node.directives),
          types: () => this.#names.members(node).map((member) => this.#named(member) as GraphQLObjectType),
          resolveType: this.#typeResolver(node),
        });
    }
  }

  /** A scalar is made when it is declared, and schemas share it unless it has directives. */
  #scalar(type: GraphQLScalarType, extensions: Readonly<Record<string, unknown>>): GraphQLScalarType {
    return Object.keys(extensions).length === 0 ? type : new GraphQLScalarType({ ...type.toConfig(), extensions });
  }

  #fielded(node: ObjectNode | InterfaceNode) {
    return {
      name: node.name,
      description: node.description,
      interfaces: () => interfacesOf(node).map((type) => this.#named(type) as GraphQLInterfaceType),
      fields: () =>
        fieldMap(
          node.name,
          Object.entries(this.#names.fieldsOf(node)).map(([key, member]) => {
            const place = `${node.name}.${key}`;
            const isDeclared = isDeclaration(member);
            const name = (isDeclared ? member.options.name : undefined) ?? key;
            const isOptional = this.#gates.isOptional(node, name);
            if (isDeclared)
              return [name, () => fieldConfig(place, { key, field: member, receiver: null }, this, isOptional)];
            return [name, () => propertyConfig(place, name, member, this, isOptional)];
          }),
        ),
    };
  }

  #typeResolver(node: InterfaceNode | UnionNode): (value: unknown) => string | undefined {
    return abstractTypeResolver(node, () => this.#names.members(node));
  }

  #inputFields(
    name: string,
    fields: readonly (readonly [string, ArgNode])[],
    isOneOf: boolean,
  ): GraphQLInputFieldConfigMap {
    return Object.fromEntries(
      fields.map(([key, field]) => {
        const config = this.input(`${name}.${key}`, field, "INPUT_FIELD_DEFINITION");
        // GraphQL requires nullable fields in a oneOf input, and checks that exactly one of them is set.
        return [
          key,
          isOneOf && config.type instanceof GraphQLNonNull ? { ...config, type: config.type.ofType } : config,
        ];
      }),
    );
  }

  #inputType(place: string, ref: AnyRef): GraphQLInputType {
    const node = this.#names.resolve(place, ref);
    const inner = node.kind === "optional" ? this.#names.resolve(place, node.of) : node;
    const type = this.#type(place, inner);
    const stripped = node.kind === "optional" && type instanceof GraphQLNonNull ? type.ofType : type;
    if (isInputType(stripped)) return stripped;
    throw new ResolverError(
      place,
      `${String(stripped)} is an output type. The type of an argument must be a scalar, an enum or t.input()`,
    );
  }

  #type(place: string, node: NamedNode | WrapperNode): GraphQLInputType | GraphQLOutputType {
    if (node.kind !== "nullable") return new GraphQLNonNull(this.#nullable(place, node) as GraphQLScalarType);
    return this.#nullable(place, this.#names.resolve(place, node.of));
  }

  #nullable(place: string, node: NamedNode | WrapperNode): GraphQLNamedType | GraphQLList<any> {
    if (node.kind === "list") return new GraphQLList(this.#type(place, this.#names.resolve(place, node.of)));
    if (node.kind === "nullable" || node.kind === "validated")
      return this.#nullable(place, this.#names.resolve(place, node.of));
    if (node.kind === "optional")
      throw new ResolverError(place, "t.optional() must be the outermost wrapper of an argument or an input field");
    return this.#named(node);
  }
}

function fieldMap<T>(owner: string, entries: readonly (readonly [name: string, config: () => T])[]): Record<string, T> {
  const fields: Record<string, T> = {};
  for (const [name, config] of entries) {
    checkName(`${owner}.${name}`, name);
    if (Object.hasOwn(fields, name)) throw new ResolverError(`${owner}.${name}`, "is declared twice");
    fields[name] = config();
  }
  return fields;
}
