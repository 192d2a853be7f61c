import type { GraphQLNamedType } from "graphql";

const GATED = new WeakSet<GraphQLNamedType>();

/** Marks a type whose objects may be refused by a gate. */
export function markGated(type: GraphQLNamedType): void {
  GATED.add(type);
}

/** Whether objects of this type may be refused by the gate of their type. */
export function isGatedType(type: GraphQLNamedType): boolean {
  return GATED.has(type);
}
