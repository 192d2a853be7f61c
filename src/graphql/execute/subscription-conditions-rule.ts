import {
  type ASTVisitor,
  type DirectiveNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationContext,
  type ValidationRule,
} from "graphql";

/**
 * Rejects `@skip` and `@include` on the root field of a subscription, as the GraphQL specification requires since September
 * 2025. It replaces `SingleFieldSubscriptionsRule` of graphql 16, which throws if such a condition is a variable and accepts
 * a subscription without a field, on which the executor fails. The rule of graphql 17 does what this one does.
 */
export const subscriptionConditionsRule: ValidationRule = (context) => {
  const { OperationDefinition: checkSingleField } = SingleFieldSubscriptionsRule(context) as SingleFieldVisitor;
  return {
    OperationDefinition(node) {
      if (node.operation !== OperationTypeNode.SUBSCRIPTION) return;
      const nodes = conditionsIn(context, node.selectionSet, new Set());
      if (nodes.length === 0) return checkSingleField(node);
      const subject = node.name === undefined ? "Anonymous Subscription" : `Subscription "${node.name.value}"`;
      const message = `${subject} must not use \`@skip\` or \`@include\` directives in the top level selection.`;
      context.reportError(new GraphQLError(message, { nodes }));
    },
  };
};

type SingleFieldVisitor = ASTVisitor & { OperationDefinition(this: void, node: OperationDefinitionNode): void };

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
