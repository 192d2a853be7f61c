import {
  type DirectiveNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";

/**
 * Rejects `@skip` and `@include` on the root field of a subscription, as the GraphQL specification requires since September
 * 2025. graphql 17 has this rule. graphql 16 would fail on a subscription without a field.
 */
export const subscriptionConditionsRule: ValidationRule = (context) => ({
  OperationDefinition({ operation, name, selectionSet }) {
    if (operation !== OperationTypeNode.SUBSCRIPTION) return;
    const nodes = conditionsIn(context, selectionSet, new Set());
    const subject = name === undefined ? "Anonymous Subscription" : `Subscription "${name.value}"`;
    const message = `${subject} must not use \`@skip\` or \`@include\` directives in the top level selection.`;
    if (nodes.length > 0) context.reportError(new GraphQLError(message, { nodes }));
  },
});

function conditionsIn(
  context: ValidationContext,
  { selections }: SelectionSetNode,
  visited: Set<string>,
): readonly DirectiveNode[] {
  return selections.flatMap((selection) => {
    const own = (selection.directives ?? []).filter(({ name }) => name.value === "skip" || name.value === "include");
    if (selection.kind === Kind.FIELD) return own;
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return [...own, ...conditionsIn(context, selection.selectionSet, visited)];
    const fragment = visited.has(selection.name.value) ? undefined : context.getFragment(selection.name.value);
    visited.add(selection.name.value);
    return fragment ? [...own, ...conditionsIn(context, fragment.selectionSet, visited)] : own;
  });
}
