import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { Slice } from "../../core/work/slice.ts";
import type { Fragments } from "../selection/fragments-of.ts";
import { priceOf } from "./field-price.ts";
import { saturatingSum } from "./saturating-sum.ts";

/** Returns the cost of the fields in the data of a response: lists count with the items that they have. */
export type ActualCost = (data: unknown) => Promise<number>;

/** The fields under one response key. Several selections of a key are merged. */
interface Selected {
  /** That of the most expensive one: fragments for different types may use one key for different fields. */
  cost: number;
  readonly sets: TypedSet[];
  /** The selections in it, which are read when the first response has them. */
  below: Level | null;
}

interface TypedSet {
  readonly set: SelectionSetNode;
  readonly type: GraphQLNamedType | undefined;
}

type Level = ReadonlyMap<string, Selected>;

/**
 * Compiles the actual cost of a valid operation. A field costs its `cost` for each object that has it, so `listSize` plays no
 * part, and neither do selections that were skipped.
 */
export function compileActualCost(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): ActualCost {
  let root: Level | null = null;
  return (data) => {
    root ??= levelOf([{ set: operation.selectionSet, type: schema.getRootType(operation.operation) ?? undefined }]);
    return costOf(root, data);
  };

  async function costOf(top: Level, data: unknown): Promise<number> {
    const slice = new Slice();
    const open: { readonly level: Level; readonly value: unknown }[] = [{ level: top, value: data }];
    let sum = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { level, value } = next;
      if (slice.isOver()) await slice.rest();
      if (typeof value !== "object" || value === null) continue;
      if (Array.isArray(value)) for (const item of value) open.push({ level, value: item });
      else
        for (const [key, inner] of Object.entries(value)) {
          const selected = level.get(key);
          if (selected === undefined) continue;
          sum = saturatingSum(sum, selected.cost);
          if (selected.sets.length === 0) continue;
          selected.below ??= levelOf(selected.sets);
          open.push({ level: selected.below, value: inner });
        }
    }
    return sum;
  }

  function levelOf(sets: readonly TypedSet[]): Level {
    const level = new Map<string, Selected>();
    const spread = new Set<string>();
    const open = [...sets];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const node of next.set.selections) {
        if (node.kind === Kind.FIELD) {
          add(level, node, next.type);
          continue;
        }
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        if (fragment === undefined || (node.kind === Kind.FRAGMENT_SPREAD && spread.has(node.name.value))) continue;
        if (node.kind === Kind.FRAGMENT_SPREAD) spread.add(node.name.value);
        const condition = fragment.typeCondition?.name.value;
        open.push({
          set: fragment.selectionSet,
          type: condition === undefined ? next.type : schema.getType(condition),
        });
      }
    }
    return level;
  }

  function add(level: Map<string, Selected>, node: FieldNode, parent: GraphQLNamedType | undefined): void {
    const key = node.alias?.value ?? node.name.value;
    const { cost, type } = priceOf(schema, parent, node.name.value);
    const selected = level.get(key) ?? { cost, sets: [], below: null };
    selected.cost = Math.max(selected.cost, cost);
    if (node.selectionSet !== undefined) selected.sets.push({ set: node.selectionSet, type });
    level.set(key, selected);
  }
}
