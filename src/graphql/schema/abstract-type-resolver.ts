import { ResolverError } from "../declare/references/resolver-error.ts";
import type { InterfaceNode, ObjectNode, UnionNode } from "../declare/references/type-node.ts";

/**
 * Determines the object type of a value of an interface or a union, by `resolveType` or by the classes of the members.
 */
export function abstractTypeResolver(
  node: InterfaceNode | UnionNode,
  members: () => readonly ObjectNode[],
): (value: unknown) => string | undefined {
  if (node.resolveType !== null) return node.resolveType as (value: unknown) => string;
  let models: readonly ObjectNode[] | null = null;
  return (value) => {
    models ??= members();
    const exact = models.find(({ model }) => model === (value as object).constructor);
    return (exact ?? models.find(({ model }) => model !== null && value instanceof model))?.name;
  };
}

/** Rejects an interface or a union whose values cannot be assigned to an object type. */
export function checkTypeResolver(node: InterfaceNode | UnionNode, members: readonly ObjectNode[]): void {
  const unknown = node.resolveType === null ? members.find(({ model }) => model === null) : undefined;
  if (unknown !== undefined)
    throw new ResolverError(
      node.name,
      `cannot determine whether a value is a ${unknown.name}. Set resolveType, or set model on ${unknown.name}`,
    );
}
