import { type GraphQLSchema, lexicographicSortSchema, printSchema as print } from "graphql";
import { hasDirectives, printDirectives } from "./print-directives.ts";

/**
 * Prints the schema as SDL. Types and fields are sorted, so the text does not depend on the order in which files are
 * loaded. Directives of `t.directive` are printed where they are applied. Uses the copy of graphql that Portico uses.
 *
 * @example
 * ```ts
 * import { field, printSchema, schema, t } from "portico/graphql";
 *
 * console.log(printSchema(schema({ query: { hello: field(t.string)(() => "world") } })));
 * ```
 */
export function printSchema(schema: GraphQLSchema): string {
  const sorted = lexicographicSortSchema(schema);
  return `${(hasDirectives(sorted) ? printDirectives(sorted) : print(sorted)).trimEnd()}\n`;
}
