import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLField,
  getArgumentValues,
  getNamedType,
  isEnumType,
  isSpecifiedScalarType,
  Kind,
  type ValueNode,
} from "graphql";
import { isGraphql17 } from "../../selection/is-graphql17.ts";
import type { Run } from "./run.ts";

type Args = Record<string, unknown>;
type Field = GraphQLField<unknown, unknown>;

/** Returns the arguments for one call of a field. Each call receives its own object. Throws if they cannot be coerced. */
export type ReadArgs = (run: Run) => Args;

/**
 * Coerces the arguments of a field as rarely as possible: once for the plan, or once for each execution if they depend on
 * variables. Values that a resolver could change, and values that a custom scalar parses, are coerced for every call.
 *
 * @param index the index of the field in the plan
 */
export function fieldArgs(def: Field, node: FieldNode, index: number): ReadArgs {
  if (def.args.length === 0) return emptyArgs;
  const each: ReadArgs = (run) => getArgumentValues(def, node, run.variableValues as Args);
  if (!def.args.every(({ type }) => isRepeatable(getNamedType(type)))) return each;
  if (!(node.arguments ?? []).some(hasVariable)) {
    const args = constantArgs(def, node);
    return args === null ? each : () => copyOf(args);
  }
  return (run) => {
    const known = run.args[index] as Args | undefined;
    if (known !== undefined) return copyOf(known);
    const args = each(run);
    if (!isShareable(args)) return args;
    run.args[index] = args;
    return copyOf(args);
  };
}

export const emptyArgs: () => Args = isGraphql17 ? () => Object.create(null) as Args : () => ({});

const copyOf: (args: Args) => Args = isGraphql17
  ? (args) => Object.assign(Object.create(null) as Args, args)
  : (args) => ({ ...args });

/** Whether a type coerces a value to the same result every time. */
function isRepeatable(type: ReturnType<typeof getNamedType>): boolean {
  return type !== undefined && (isSpecifiedScalarType(type) || isEnumType(type));
}

/** The arguments without variables; `null` if they cannot be shared, or are invalid, which every call has to report. */
function constantArgs(def: Field, node: FieldNode): Args | null {
  try {
    const args = getArgumentValues(def, node);
    return isShareable(args) ? args : null;
  } catch {
    return null;
  }
}

function isShareable(args: Args): boolean {
  return Object.values(args).every((value) => typeof value !== "object" || value === null);
}

function hasVariable({ value }: ArgumentNode): boolean {
  return usesVariable(value);
}

/** Only scalars, enums and lists of them are repeatable, so the value is not an object. */
function usesVariable(value: ValueNode): boolean {
  return value.kind === Kind.VARIABLE || (value.kind === Kind.LIST && value.values.some(usesVariable));
}
