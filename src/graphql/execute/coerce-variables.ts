import {
  GraphQLError,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  getVariableValues,
  isInputObjectType,
  isListType,
  isNonNullType,
  type NamedTypeNode,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from "graphql";
import { MOST_ERRORS } from "../errors/format-errors.ts";
import { GraphRefusal } from "./graph-refusal.ts";
import { isGraphql17 } from "./plan/is-graphql17.ts";

/** Variables of the declared types. */
export interface CoercedVariables {
  /** By name, with defaults. */
  readonly values: Readonly<Record<string, unknown>>;
  /** In the form of `info.variableValues`: the values in graphql 16, with their sources in graphql 17. */
  readonly info: unknown;
}

/** The result of `getVariableValues` in graphql 16 and 17. */
interface Coercion {
  readonly errors?: readonly GraphQLError[];
  readonly coerced?: Readonly<Record<string, unknown>>;
  readonly variableValues?: { readonly coerced: Readonly<Record<string, unknown>> };
}

/** Coerces variables as graphql does when it executes an operation. */
export function coerceAsGraphql(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  inputs: Readonly<Record<string, unknown>>,
): CoercedVariables | { readonly errors: readonly GraphQLError[] } {
  if (variableDefinitions.length === 0) return none();
  // graphql stops at this number, with one more error that says so: ten thousand bad items are one mistake.
  const { errors, coerced, variableValues } = getVariableValues(schema, variableDefinitions, inputs, {
    maxErrors: MOST_ERRORS,
  }) as Coercion;
  if (errors !== undefined) return { errors };
  return isGraphql17
    ? { values: variableValues?.coerced ?? {}, info: variableValues }
    : { values: coerced ?? {}, info: coerced };
}

/** New objects each time, as graphql makes them: a resolver may write to them. */
function none(): CoercedVariables {
  if (!isGraphql17) {
    const values = {};
    return { values, info: values };
  }
  const values = Object.create(null) as Readonly<Record<string, unknown>>;
  return { values, info: { sources: Object.create(null) as object, coerced: values } };
}

/** Coerces the variables to their declared types; 400 if one does not fit. `null` if the operation declares none. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Readonly<Record<string, unknown>>,
  show: (error: GraphQLError) => GraphQLError,
): CoercedVariables | null {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return null;
  checkExtent(schema, definitions, inputs);
  const coerced = coerceAsGraphql(schema, operation, inputs);
  if (!("errors" in coerced)) return coerced;
  throw new GraphRefusal(
    400,
    coerced.errors.map((error) => badInput(show(error))),
  );
}

/**
 * Rejects values that would be expensive to reject later: graphql recurses into them, and prints the whole object in the
 * error for each unknown field, which takes a second for an object with 50,000 fields.
 */
function checkExtent(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  inputs: Readonly<Record<string, unknown>>,
): void {
  for (const node of definitions) {
    const name = node.variable.name.value;
    const type = typeFromAST(schema, node.type as NamedTypeNode);
    if (!Object.hasOwn(inputs, name) || !isInputObjectType(getNamedType(type))) continue;
    const fault = faultOf(inputs[name], type);
    if (fault !== null)
      throw new GraphRefusal(400, [badInput(new GraphQLError(`Variable "$${name}" ${fault}`, { nodes: node }))]);
  }
}

/** The deepest nesting of input objects. */
const MOST_NESTED = 500;

/** Says why a value is too large, or returns `null`. It does not recurse, so nested values cannot exhaust the stack. */
function faultOf(value: unknown, type: GraphQLType | undefined): string | null {
  const open = [{ given: value, declared: type, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { given, declared, depth } = next;
    if (typeof given !== "object" || given === null) continue;
    if (depth > MOST_NESTED) return `contains objects nested more than ${MOST_NESTED} levels deep`;
    if (isNonNullType(declared)) open.push({ given, declared: declared.ofType, depth });
    else if (isListType(declared))
      for (const item of Array.isArray(given) ? given : [given])
        open.push({ given: item, declared: declared.ofType, depth });
    else if (isInputObjectType(declared)) {
      const fields = declared.getFields();
      const names = Object.keys(given);
      if (names.length > Object.keys(fields).length)
        return `contains an object with more fields than its type "${declared.name}"`;
      for (const name of names)
        if (Object.hasOwn(fields, name))
          open.push({ given: Reflect.get(given, name), declared: fields[name]?.type, depth: depth + 1 });
    }
  }
  return null;
}

function badInput({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes: nodes ?? null, extensions: { code: "BAD_USER_INPUT" } });
}
