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
      const nodes = conditionsIn(context, node.selectionSet);
      if (nodes.length === 0) return checkSingleField(node);
      const subject = node.name === undefined ? "Anonymous Subscription" : `Subscription "${node.name.value}"`;
      const message = `${subject} must not use \`@skip\` or \`@include\` directives in the top level selection.`;
      context.reportError(new GraphQLError(message, { nodes }));
    },
  };
};

type SingleFieldVisitor = ASTVisitor & { OperationDefinition(this: void, node: OperationDefinitionNode): void };

/** The conditions on the root fields, in linear time: each fragment is read once. */
function conditionsIn(context: ValidationContext, root: SelectionSetNode): readonly DirectiveNode[] {
  const found: DirectiveNode[] = [];
  const visited = new Set<string>();
  const open = [root];
  for (let set = open.pop(); set !== undefined; set = open.pop())
    for (const selection of set.selections) {
      for (const directive of selection.directives ?? [])
        if (directive.name.value === "skip" || directive.name.value === "include") found.push(directive);
      if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD || visited.has(selection.name.value)) continue;
      visited.add(selection.name.value);
      const fragment = context.getFragment(selection.name.value);
      if (fragment) open.push(fragment.selectionSet);
    }
  return found;
}
