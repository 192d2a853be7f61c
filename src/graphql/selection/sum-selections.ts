import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import type { Fragments } from "./fragments-of.ts";

/** How a value of type `Sum` is computed from selections. `Context` describes the place of a selection. */
export interface Gathering<Sum, Context> {
  /** The initial sum; `of` is the definition whose selections follow, if they belong to one. */
  empty(of?: OperationDefinitionNode | FragmentDefinitionNode): Sum;
  /** Adds a field without the selections in it, and returns their context. */
  field(sum: Sum, node: FieldNode, context: Context): Context;
  /** Adds the selections in a field, whose context was `context`. */
  below(sum: Sum, inner: Sum, context: Context): void;
  /** The context in a fragment. For a named fragment it must depend only on the fragment. */
  inside(fragment: FragmentDefinitionNode | InlineFragmentNode, context: Context): Context;
  /** Adds the selections of a fragment to the selection set that spreads it. */
  merge(sum: Sum, node: FragmentSpreadNode | InlineFragmentNode, inner: Sum): void;
}

interface Frame<Sum, Context> {
  readonly set: SelectionSetNode;
  readonly sum: Sum;
  readonly context: Context;
  readonly close: (sum: Sum) => void;
  next: number;
}

/**
 * Computes a sum over an operation with its fragments expanded, in time linear in the document: a fragment is visited
 * once, however often it is spread. The document may be invalid: a spread that closes a cycle, or that names an unknown
 * fragment, adds nothing. It does not recurse, so deep nesting cannot overflow the stack.
 */
export function sumSelections<Sum, Context>(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  gathering: Gathering<Sum, Context>,
  context: Context,
): Sum {
  const total = gathering.empty(operation);
  // `null` marks a fragment that is being visited.
  const gathered = new Map<string, Sum | null>();
  const stack: Frame<Sum, Context>[] = [{ set: operation.selectionSet, sum: total, context, close: () => {}, next: 0 }];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const selection = frame.set.selections[frame.next++];
    if (selection === undefined) {
      stack.pop();
      frame.close(frame.sum);
      continue;
    }
    const inner = step(frame, selection);
    if (inner !== null) stack.push(inner);
  }
  return total;

  function step(
    frame: Frame<Sum, Context>,
    node: FieldNode | FragmentSpreadNode | InlineFragmentNode,
  ): Frame<Sum, Context> | null {
    const { sum } = frame;
    if (node.kind === Kind.FIELD) {
      const below = gathering.field(sum, node, frame.context);
      if (node.selectionSet === undefined) return null;
      return open(node.selectionSet, gathering.empty(), below, (inner) => gathering.below(sum, inner, below));
    }
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const inside = gathering.inside(node, frame.context);
      return open(node.selectionSet, gathering.empty(), inside, (inner) => gathering.merge(sum, node, inner));
    }
    const name = node.name.value;
    const fragment = fragments.get(name);
    const known = gathered.get(name);
    if (fragment === undefined || known !== undefined) {
      gathering.merge(sum, node, known ?? gathering.empty());
      return null;
    }
    gathered.set(name, null);
    return open(
      fragment.selectionSet,
      gathering.empty(fragment),
      gathering.inside(fragment, frame.context),
      (inner) => {
        gathered.set(name, inner);
        gathering.merge(sum, node, inner);
      },
    );
  }

  function open(set: SelectionSetNode, sum: Sum, context: Context, close: (sum: Sum) => void): Frame<Sum, Context> {
    return { set, sum, context, close, next: 0 };
  }
}
