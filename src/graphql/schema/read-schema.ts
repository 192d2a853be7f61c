import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from "graphql";

/** The query whose result `readSchema` takes. */
export function schemaQuery(): string {
  return getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true });
}

/**
 * Reads a schema from SDL, or from the JSON of an introspection result. Throws if the text is neither. Directives that the SDL
 * does not define, such as those of federation, are ignored.
 */
export function readSchema(text: string): GraphQLSchema {
  if (!text.trimStart().startsWith("{")) return buildSchema(text, { assumeValidSDL: true });
  const { data, ...bare } = JSON.parse(text) as { readonly data?: IntrospectionQuery };
  return buildClientSchema(data ?? (bare as unknown as IntrospectionQuery));
}
