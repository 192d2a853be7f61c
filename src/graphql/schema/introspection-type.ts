import { type GraphQLSchema, introspectionFromSchema, lexicographicSortSchema } from "graphql";

/**
 * Writes the introspection of a schema as a TypeScript type, which gql.tada reads. JSON is a valid type: its objects are object
 * types, its lists are tuples.
 */
export function introspectionType(schema: GraphQLSchema): string {
  const introspection = introspectionFromSchema(lexicographicSortSchema(schema), { descriptions: false });
  return `// Written by portico client. Do not edit.\n\nexport type introspection = ${JSON.stringify(introspection, null, 1)};\n`;
}
