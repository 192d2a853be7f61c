import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, visit } from "graphql";
import { conditionOf } from "./collect-fields.ts";

/**
 * The variables that decide which fields of a document are selected, or `null` if a plan cannot execute the operation and
 * graphql has to.
 */
export function conditionVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly string[] | null {
  if (!schema.getRootType(operation.operation)) return null;
  // graphql 17 rejects such a schema, or executes incrementally.
  if (schema.getDirective("defer") || schema.getDirective("stream")) return null;
  if (operation.directives?.some(({ name }) => name.value === "experimental_disableErrorPropagation") === true)
    return null;
  const variables = new Set<string>();
  let isCovered = true;
  visit(document, {
    [Kind.DIRECTIVE]: (node) => {
      if (node.name.value !== "skip" && node.name.value !== "include") return;
      const condition = conditionOf(node);
      if (condition === undefined) isCovered = false;
      if (typeof condition === "string") variables.add(condition);
    },
  });
  return isCovered ? [...variables] : null;
}
