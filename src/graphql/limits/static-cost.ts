import type { DocumentNode, GraphQLNamedType, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { type Fragments, fragmentsOf } from "../selection/fragments-of.ts";
import { type Gathering, sumSelections } from "../selection/sum-selections.ts";
import { type FieldPrice, priceOf, type Quantity, timesCounted } from "./field-price.ts";
import { saturatingProduct, saturatingSum } from "./saturating-sum.ts";

/** Returns the cost of an operation for coerced variables. */
export type StaticCost = (variables: Readonly<Record<string, unknown>>) => number;

/**
 * Compiles the cost of an operation: the sum of the `cost` of all selected fields, where a field with `listSize`
 * multiplies the cost of the selections in it. The part that does not depend on the variables is computed once. The
 * rest takes time linear in the document at every call. The operation should be valid; a field that is not in the
 * schema costs 1.
 */
export function compileStaticCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  fragments: Fragments = fragmentsOf(document),
): StaticCost {
  const open: Sum[] = [];
  const root = schema.getRootType(operation.operation) ?? undefined;
  const total = sumSelections(operation, fragments, adding(schema, open), { type: root, times: 1 });
  if (total.terms.length === 0) return () => total.constant;
  return (variables) => {
    // The list is ordered so that each sum comes after its terms.
    const values = new Map<Sum, number>();
    for (const sum of open) values.set(sum, evaluate(sum, values, variables));
    return evaluate(total, values, variables);
  };
}

/** A constant, and terms that are added when the variables are known. */
interface Sum {
  constant: number;
  readonly terms: { readonly times: Quantity; readonly sum: Sum }[];
}

interface Place {
  readonly type: GraphQLNamedType | undefined;
  /** The factor for the cost of this selection set. */
  readonly times: Quantity;
}

/** Adds up costs. `open` receives the sums that depend on the variables, in the order of their evaluation. */
function adding(schema: GraphQLSchema, open: Sum[]): Gathering<Sum, Place> {
  const prices = new Map<GraphQLNamedType | undefined, Map<string, FieldPrice>>();
  const kept = new Set<Sum>();
  return {
    empty: () => ({ constant: 0, terms: [] }),
    field(sum, node, { type }) {
      const price = lookUp(type, node.name.value);
      sum.constant = saturatingSum(sum.constant, price.cost);
      return { type: price.type, times: timesCounted(price, node) };
    },
    below: (sum, inner, place) => add(sum, place.times, inner),
    inside: ({ typeCondition }, place) => ({
      type: typeCondition === undefined ? place.type : schema.getType(typeCondition.name.value),
      times: 1,
    }),
    merge: (sum, _node, inner) => add(sum, 1, inner),
  };

  function add(sum: Sum, factor: Quantity, inner: Sum): void {
    if (inner.terms.length === 0 && typeof factor === "number") {
      sum.constant = saturatingSum(sum.constant, saturatingProduct(factor, inner.constant));
      return;
    }
    if (!kept.has(inner)) open.push(inner);
    kept.add(inner);
    sum.terms.push({ times: factor, sum: inner });
  }

  function lookUp(type: GraphQLNamedType | undefined, name: string): FieldPrice {
    const known = prices.get(type) ?? new Map<string, FieldPrice>();
    prices.set(type, known);
    const price = known.get(name) ?? priceOf(schema, type, name);
    known.set(name, price);
    return price;
  }
}

function evaluate(sum: Sum, values: ReadonlyMap<Sum, number>, variables: Readonly<Record<string, unknown>>): number {
  let value = sum.constant;
  for (const term of sum.terms) {
    const factor = typeof term.times === "number" ? term.times : term.times(variables);
    value = saturatingSum(value, saturatingProduct(factor, values.get(term.sum) ?? 0));
  }
  return value;
}
