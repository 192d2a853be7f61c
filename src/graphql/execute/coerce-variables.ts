import { GraphQLError, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from "graphql";
import { GraphRefusal } from "./refusal.ts";

/** graphql collects no more than this: ten thousand bad items are one mistake. */
const MOST_ERRORS = 50;

/** What graphql 16 and 17 give. */
interface Coercion {
  readonly errors?: readonly GraphQLError[];
  readonly coerced?: Readonly<Record<string, unknown>>;
  readonly variableValues?: { readonly coerced: Readonly<Record<string, unknown>> };
}

/** The variables as the operation declares them; 400 when one does not fit. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Readonly<Record<string, unknown>>,
  show: (error: GraphQLError) => GraphQLError,
): Readonly<Record<string, unknown>> {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return {};
  const { errors, coerced, variableValues } = getVariableValues(schema, definitions, inputs, {
    maxErrors: MOST_ERRORS,
  }) as Coercion;
  if (errors !== undefined)
    throw new GraphRefusal(
      400,
      errors.slice(0, MOST_ERRORS).map((error) => badInput(show(error))),
    );
  return coerced ?? variableValues?.coerced ?? {};
}

function badInput({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    ...(nodes === undefined ? {} : { nodes }),
    extensions: { code: "BAD_USER_INPUT" },
  });
}
