import { type GraphQLSchema, lexicographicSortSchema, printSchema as print } from "graphql";

/**
 * The schema as text, sorted: the same schema gives the same text, whatever order its files were read in. Made by the copy
 * of graphql that Portico runs on.
 *
 * @example
 * ```ts
 * import { field, printSchema, schema, t } from "portico/graphql";
 *
 * console.log(printSchema(schema({ query: { hello: field(t.string)(() => "world") } })));
 * ```
 */
export function printSchema(schema: GraphQLSchema): string {
  return `${print(lexicographicSortSchema(schema)).trimEnd()}\n`;
}
