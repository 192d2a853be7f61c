import { ResolverError } from "../fields/resolver-error.ts";
import type { InterfaceNode, ObjectNode, UnionNode } from "../types/type-node.ts";

/** Tells which object type a value of an interface or a union is: as its author says, else by the classes of the members. */
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

/** Stops a type whose values nobody could tell apart. */
export function checkTypeResolver(node: InterfaceNode | UnionNode, members: readonly ObjectNode[]): void {
  const unknown = node.resolveType === null ? members.find(({ model }) => model === null) : undefined;
  if (unknown !== undefined)
    throw new ResolverError(
      node.name,
      `a value could not be told to be a ${unknown.name}: give resolveType, or give ${unknown.name} its class as model`,
    );
}
