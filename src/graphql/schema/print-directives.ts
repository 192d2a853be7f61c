import {
  astFromValue,
  type ConstArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationTypeDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  printSchema,
} from "graphql";

/** A part of a schema that may have directives. */
interface Place {
  readonly extensions: Readonly<Record<PropertyKey, unknown>>;
}
/** A part of a document. */
interface Node {
  readonly name?: { readonly value: string };
  readonly directives?: readonly ConstDirectiveNode[];
}

/** Prints a schema as graphql does, with the directives in its extensions, which graphql does not print. */
export function printDirectives(schema: GraphQLSchema): string {
  const document = parse(printSchema(schema), { noLocation: true });
  const definitions = withSchema(schema, document).map((definition) => withDirectives(schema, definition));
  return print({ ...document, definitions });
}

/** Whether a directive is applied anywhere in the schema. */
export function hasDirectives(schema: GraphQLSchema): boolean {
  if (appliedTo(schema, schema).length > 0) return true;
  return Object.values(schema.getTypeMap()).some((type) => {
    if (appliedTo(schema, type).length > 0) return true;
    if (isEnumType(type)) return type.getValues().some((value) => appliedTo(schema, value).length > 0);
    if (isInputObjectType(type))
      return Object.values(type.getFields()).some((field) => appliedTo(schema, field).length > 0);
    if (!isObjectType(type) && !isInterfaceType(type)) return false;
    return Object.values(type.getFields()).some((field) =>
      [field, ...field.args].some((place) => appliedTo(schema, place).length > 0),
    );
  });
}

/** The definitions with one of the schema itself, which graphql leaves out if the root types have their usual names. */
function withSchema(schema: GraphQLSchema, { definitions }: DocumentNode): readonly DefinitionNode[] {
  const isPrinted = definitions.some(({ kind }) => kind === Kind.SCHEMA_DEFINITION);
  if (isPrinted || appliedTo(schema, schema).length === 0) return definitions;
  const operationTypes = Object.values(OperationTypeNode).flatMap((operation): OperationTypeDefinitionNode[] => {
    const type = schema.getRootType(operation);
    if (!type) return [];
    const name = { kind: Kind.NAME, value: type.name } as const;
    return [{ kind: Kind.OPERATION_TYPE_DEFINITION, operation, type: { kind: Kind.NAMED_TYPE, name } }];
  });
  return [{ kind: Kind.SCHEMA_DEFINITION, operationTypes, directives: [] }, ...definitions];
}

function withDirectives(schema: GraphQLSchema, definition: DefinitionNode): DefinitionNode {
  const add = <N extends Node>(node: N, place: Place | undefined): N =>
    place === undefined ? node : { ...node, directives: [...(node.directives ?? []), ...appliedTo(schema, place)] };
  const named = <N extends Node>(nodes: readonly N[] | undefined, find: (name: string) => Place | undefined): N[] =>
    (nodes ?? []).map((node) => add(node, find(node.name?.value ?? "")));

  if (definition.kind === Kind.SCHEMA_DEFINITION) return add(definition, schema);
  const type = "name" in definition ? schema.getType(definition.name?.value ?? "") : undefined;
  if (definition.kind === Kind.DIRECTIVE_DEFINITION || type === undefined) return definition;
  const own = add(definition as Node, type) as DefinitionNode;
  if (own.kind === Kind.ENUM_TYPE_DEFINITION && isEnumType(type))
    return { ...own, values: named(own.values, (name) => type.getValue(name) ?? undefined) };
  if (own.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION && isInputObjectType(type))
    return { ...own, fields: named(own.fields, (name) => type.getFields()[name]) };
  if (own.kind !== Kind.OBJECT_TYPE_DEFINITION && own.kind !== Kind.INTERFACE_TYPE_DEFINITION) return own;
  if (!isObjectType(type) && !isInterfaceType(type)) return own;
  const fields = named(own.fields, (name) => type.getFields()[name]).map((field) => ({
    ...field,
    arguments: named(field.arguments, (name) =>
      type.getFields()[field.name.value]?.args.find((arg) => arg.name === name),
    ),
  }));
  return { ...own, fields };
}

/** The directives of a place that the schema defines, as other tools write them into its extensions too. */
function appliedTo(schema: GraphQLSchema, { extensions }: Place): readonly ConstDirectiveNode[] {
  const { directives } = extensions;
  if (!Array.isArray(directives)) return [];
  return directives.flatMap(({ name, args = {} }: { name: string; args?: Readonly<Record<string, unknown>> }) => {
    const directive = schema.getDirective(name);
    if (!directive) return [];
    const written = directive.args.flatMap((arg): ConstArgumentNode[] => {
      const value = args[arg.name] === undefined ? null : astFromValue(args[arg.name], arg.type);
      if (value === null) return [];
      return [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: arg.name }, value: value as ConstValueNode }];
    });
    return [{ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name }, arguments: written }];
  });
}
