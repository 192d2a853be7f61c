import {
  GraphQLError,
  type GraphQLSchema,
  type GraphQLType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  type NamedTypeNode,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from "graphql";
import { MAX_ERRORS } from "../../errors/format-errors.ts";
import { GraphRefusal, graphRefusal } from "../../errors/graph-refusal.ts";
import { isGraphql17 } from "../../selection/is-graphql17.ts";

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
    maxErrors: MAX_ERRORS,
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

/**
 * Coerces the variables to their declared types; 400 if one does not fit, or if they contain more than `mostValues`. `null` if the
 * operation declares none.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Readonly<Record<string, unknown>>,
  mostValues: number | null,
  show: (error: GraphQLError) => GraphQLError,
): CoercedVariables | null {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return null;
  checkExtent(schema, definitions, inputs, mostValues ?? Number.POSITIVE_INFINITY);
  const coerced = coerceAsGraphql(schema, operation, inputs);
  if (!("errors" in coerced)) return coerced;
  throw new GraphRefusal(
    400,
    coerced.errors.map((error) => badInput(show(error))),
  );
}

/**
 * Rejects values that would be expensive to coerce, or to reject later: graphql recurses into them without a pause, and prints
 * the whole object in the error for each unknown field, which takes a second for an object with 50,000 fields.
 */
function checkExtent(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  inputs: Readonly<Record<string, unknown>>,
  mostValues: number,
): void {
  const extent = new Extent(mostValues);
  for (const node of definitions) {
    const name = node.variable.name.value;
    if (!Object.hasOwn(inputs, name)) continue;
    const fault = extent.faultOf(inputs[name], typeFromAST(schema, node.type as NamedTypeNode));
    if (fault !== null)
      throw new GraphRefusal(400, [badInput(new GraphQLError(`Variable "$${name}" ${fault}`, { nodes: node }))]);
    if (extent.isExceeded)
      throw graphRefusal(
        "VALUE_LIMIT_EXCEEDED",
        `The variables contain at least ${extent.values} values; the limit is ${mostValues}`,
      );
  }
}

/** The deepest nesting of input objects. */
const MAX_NESTED = 500;

interface Given {
  readonly given: unknown;
  readonly declared: GraphQLType | undefined;
  readonly depth: number;
}

/** Counts the values in variables, and stops above a limit. */
class Extent {
  readonly #most: number;
  /** Each item of a list and each field that the type of an object declares: coercion visits also those that are left out. */
  values = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isExceeded(): boolean {
    return this.values > this.#most;
  }

  /** Says why a value is too large, or returns `null`. It does not recurse, so nested values cannot exhaust the stack. */
  faultOf(value: unknown, type: GraphQLType | undefined): string | null {
    const open: Given[] = [{ given: value, declared: type, depth: 0 }];
    for (let next = open.pop(); next !== undefined && !this.isExceeded; next = open.pop()) {
      const { given, depth } = next;
      if (typeof given !== "object" || given === null) continue;
      if (depth > MAX_NESTED) return `contains objects nested more than ${MAX_NESTED} levels deep`;
      const declared = isNonNullType(next.declared) ? next.declared.ofType : next.declared;
      if (isListType(declared)) {
        const items = Array.isArray(given) ? given : [given];
        this.values += items.length;
        // Items of a scalar are not read further.
        if (this.isExceeded || isLeafType(getNullableType(declared.ofType))) continue;
        for (const item of items) open.push({ given: item, declared: declared.ofType, depth });
      } else if (isInputObjectType(declared)) {
        const fields = declared.getFields();
        const count = Object.keys(fields).length;
        const names = Object.keys(given);
        if (names.length > count) return `contains an object with more fields than its type "${declared.name}"`;
        this.values += count;
        for (const name of names)
          if (Object.hasOwn(fields, name))
            open.push({ given: Reflect.get(given, name), declared: fields[name]?.type, depth: depth + 1 });
      }
    }
    return null;
  }
}

function badInput({ message, nodes }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { nodes: nodes ?? null, extensions: { code: "BAD_USER_INPUT" } });
}
