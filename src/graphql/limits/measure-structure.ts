import type { OperationDefinitionNode } from "graphql";
import { type Fragments } from "../selection/fragments-of.ts";
import { type Gathering, sumSelections } from "../selection/sum-selections.ts";
import { saturatingSum } from "./saturating-sum.ts";

/** The size of an operation with its fragments expanded, counted from the document alone. */
export interface Structure {
  /** How deeply fields nest. */
  readonly depth: number;
  /** Fields with an alias. */
  readonly aliases: number;
  /** Fields in the widest selection set. */
  readonly breadth: number;
  /** Fields in total. */
  readonly fields: number;
  /** Directives in total: on fields, spreads, fragments, variables and the operation. */
  readonly directives: number;
}

/**
 * Measures one operation, which may be invalid. Every selection counts, including those under `@skip` and
 * introspection, and a fragment counts each time it is spread. The counts are integers up to `Number.MAX_SAFE_INTEGER`.
 */
export function measureStructure(operation: OperationDefinitionNode, fragments: Fragments): Structure {
  const { depth, aliases, breadth, width, fields, directives } = sumSelections(
    operation,
    fragments,
    counting,
    undefined,
  );
  return { depth, aliases, breadth: Math.max(breadth, width), fields, directives };
}

/** The counts of the part of a selection set that has been read. */
interface Counts {
  depth: number;
  aliases: number;
  /** The breadth of the sets below; `width` is the breadth of this set. */
  breadth: number;
  width: number;
  fields: number;
  directives: number;
}

const counting: Gathering<Counts, undefined> = {
  empty(of) {
    let directives = of?.directives?.length ?? 0;
    for (const variable of of?.variableDefinitions ?? []) directives += variable.directives?.length ?? 0;
    return { depth: 0, aliases: 0, breadth: 0, width: 0, fields: 0, directives };
  },
  field(sum, node) {
    sum.depth = Math.max(sum.depth, 1);
    sum.width = saturatingSum(sum.width, 1);
    sum.fields = saturatingSum(sum.fields, 1);
    if (node.alias !== undefined) sum.aliases = saturatingSum(sum.aliases, 1);
    sum.directives = saturatingSum(sum.directives, node.directives?.length ?? 0);
    return undefined;
  },
  below(sum, inner) {
    sum.depth = Math.max(sum.depth, inner.depth + 1);
    sum.breadth = Math.max(sum.breadth, inner.breadth, inner.width);
    addTotals(sum, inner);
  },
  inside: () => undefined,
  merge(sum, node, inner) {
    sum.depth = Math.max(sum.depth, inner.depth);
    sum.breadth = Math.max(sum.breadth, inner.breadth);
    sum.width = saturatingSum(sum.width, inner.width);
    addTotals(sum, inner);
    sum.directives = saturatingSum(sum.directives, node.directives?.length ?? 0);
  },
};

function addTotals(sum: Counts, inner: Counts): void {
  sum.fields = saturatingSum(sum.fields, inner.fields);
  sum.aliases = saturatingSum(sum.aliases, inner.aliases);
  sum.directives = saturatingSum(sum.directives, inner.directives);
}
