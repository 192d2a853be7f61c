import {
  type GraphQLFieldConfig,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLUnionType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from "graphql";

type Config<T extends { toConfig(): object }> = ReturnType<T["toConfig"]>;
type FieldConfig = GraphQLFieldConfig<any, any>;

/** The changes to a copied schema. Each receives the copied configuration and returns the one to build. */
export interface SchemaChanges {
  field(config: FieldConfig, type: string, name: string): FieldConfig;
  object(config: Config<GraphQLObjectType>): Config<GraphQLObjectType>;
  abstract<C extends Config<GraphQLInterfaceType> | Config<GraphQLUnionType>>(config: C): C;
}

/**
 * Copies a schema with changes. Types that no output type can be part of are shared with the original: scalars, enums and inputs.
 * The copied types are built when the schema is, so a change may look at them only afterwards.
 */
export function copySchema(schema: GraphQLSchema, changes: SchemaChanges): GraphQLSchema {
  const copies = new Map<string, GraphQLNamedType>();
  const copyOf = <T extends GraphQLNamedType>({ name }: T): T => copies.get(name) as T;
  const typeOf = <T extends GraphQLOutputType>(type: T): T => {
    if (isNonNullType(type)) return new GraphQLNonNull(typeOf(type.ofType)) as unknown as T;
    if (isListType(type)) return new GraphQLList(typeOf(type.ofType)) as unknown as T;
    return copyOf(type as GraphQLNamedType) as unknown as T;
  };
  const fielded = (type: GraphQLObjectType | GraphQLInterfaceType) => ({
    interfaces: () => type.getInterfaces().map(copyOf),
    fields: () =>
      Object.fromEntries(
        Object.entries(type.toConfig().fields).map(([name, config]) => [
          name,
          changes.field({ ...config, type: typeOf(config.type) }, type.name, name),
        ]),
      ),
  });
  const copied = (type: GraphQLNamedType): GraphQLNamedType => {
    if (isIntrospectionType(type)) return type;
    if (isObjectType(type))
      return new GraphQLObjectType({ ...changes.object(type.toConfig()), ...fielded(type) } as never);
    if (isInterfaceType(type))
      return new GraphQLInterfaceType({ ...changes.abstract(type.toConfig()), ...fielded(type) } as never);
    if (isUnionType(type))
      return new GraphQLUnionType({ ...changes.abstract(type.toConfig()), types: () => type.getTypes().map(copyOf) });
    return type;
  };
  for (const type of Object.values(schema.getTypeMap())) copies.set(type.name, copied(type));
  const { query, mutation, subscription, ...config } = schema.toConfig();
  return new GraphQLSchema({
    ...config,
    query: query && copyOf(query),
    mutation: mutation && copyOf(mutation),
    subscription: subscription && copyOf(subscription),
    types: config.types.map(copyOf),
  });
}
