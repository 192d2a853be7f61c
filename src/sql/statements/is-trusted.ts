import type { OperationNode } from "kysely";

/** Statements that Portico has guarded, or that it wrote itself, by their root. */
const trusted = new WeakSet<OperationNode>();

/** Marks a root that the compiler of a guarded database takes as it is. */
export function trust<T extends OperationNode>(root: T): T {
  trusted.add(root);
  return root;
}

export function isTrusted(root: OperationNode): boolean {
  return trusted.has(root);
}
