import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLDirective,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { isGraphql17 } from "./is-graphql17.ts";

/** Where fields are collected. */
export interface CollectScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** The values of the variables in `@skip` and `@include`. */
  readonly conditions: Conditions;
}

/** The values of variables. A nullable variable with a default value may be null in a condition. */
export type Conditions = ReadonlyMap<string, boolean | null>;

/**
 * The fields that several selection sets select on one object type, by their names in the response, in their order. Throws
 * graphql's error if a condition is null.
 */
export function collectFields(
  scope: CollectScope,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      // Unlike graphql 17, graphql 16 does not read the conditions of a fragment again.
      if (!isGraphql17 && selection.kind === Kind.FRAGMENT_SPREAD && visited.has(selection.name.value)) continue;
      if (!isIncluded(scope, selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = responseKey(selection);
        const nodes = fields.get(key);
        if (nodes === undefined) fields.set(key, [selection]);
        else nodes.push(selection);
      } else {
        const fragment = fragmentOf(scope, selection, visited);
        if (fragment !== undefined && isFor(scope, fragment, type)) visit(fragment.selectionSet);
      }
    }
  };
  for (const set of sets) visit(set);
  return fields;
}

function responseKey({ alias, name }: FieldNode): string {
  return alias?.value ?? name.value;
}

function fragmentOf(
  { fragments }: CollectScope,
  selection: Exclude<SelectionNode, FieldNode>,
  visited: Set<string>,
): FragmentDefinitionNode | InlineFragmentNode | undefined {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
  const name = selection.name.value;
  if (visited.has(name)) return undefined;
  visited.add(name);
  return fragments[name];
}

function isFor(
  { schema }: CollectScope,
  { typeCondition }: FragmentDefinitionNode | InlineFragmentNode,
  type: GraphQLObjectType,
): boolean {
  if (typeCondition === undefined) return true;
  const condition = schema.getType(typeCondition.name.value);
  return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
}

function isIncluded({ conditions }: CollectScope, { directives = [] }: SelectionNode): boolean {
  return (
    conditionIn(directives, GraphQLSkipDirective, conditions) !== true &&
    conditionIn(directives, GraphQLIncludeDirective, conditions) !== false
  );
}

/** The value of the `if` argument of a directive; `undefined` if the directive is not there. */
function conditionIn(
  directives: readonly DirectiveNode[],
  definition: GraphQLDirective,
  conditions: Conditions,
): boolean | undefined {
  const directive = directives.find((one) => one.name.value === definition.name);
  const value = directive === undefined ? undefined : skipCondition(directive);
  if (typeof value !== "string") return value;
  const known = conditions.get(value);
  return known === null ? rejectNull(definition, directive as DirectiveNode, value) : known;
}

/** Throws graphql's error for a variable that is null. */
function rejectNull(definition: GraphQLDirective, directive: DirectiveNode, variable: string): never {
  const values = { [variable]: null };
  getArgumentValues(definition, directive, isGraphql17 ? { sources: {}, coerced: values } : values);
  throw new Error(`$${variable} must not be null`);
}

/** The literal in the `if` argument of `@skip` or `@include`, or the name of its variable; `undefined` for anything else. */
export function skipCondition({ arguments: args }: DirectiveNode): boolean | string | undefined {
  const value = args?.find(({ name }) => name.value === "if")?.value;
  if (value?.kind === Kind.VARIABLE) return value.name.value;
  return value?.kind === Kind.BOOLEAN ? value.value : undefined;
}
