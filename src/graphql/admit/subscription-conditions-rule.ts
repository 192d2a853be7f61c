import {
  type ASTVisitor,
  type DirectiveNode,
  GraphQLError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import { selectionsOf } from "../selection/selections-of.ts";

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

/** The conditions on the root fields. */
function conditionsIn(context: ValidationContext, root: SelectionSetNode): readonly DirectiveNode[] {
  const selections = [...selectionsOf(root, (name) => context.getFragment(name))];
  const directives = selections.flatMap((selection) => selection.directives ?? []);
  return directives.filter(({ name }) => name.value === "skip" || name.value === "include");
}
