import { allGates, type GateNode } from "../../../kernel/access/gate-node.ts";
import { nodeOf } from "../fields/node-of.ts";
import type { InterfaceNode, ObjectNode } from "../references/type-node.ts";

const GATES = new WeakMap<ObjectNode, GateNode | null>();

/** The gate of an object type: its own and those of its interfaces, all of which must open. `null` if there is none. */
export function typeGate(node: ObjectNode): GateNode | null {
  const known = GATES.get(node);
  if (known !== undefined) return known;
  const gates = [...interfacesOf(node), node].flatMap(({ gate }) => (gate === null ? [] : [gate]));
  const gate = allGates([...new Set(gates)]);
  GATES.set(node, gate);
  return gate;
}

/** The interfaces of a type and their own interfaces. An interface comes after those that it implements. */
export function interfacesOf(node: ObjectNode | InterfaceNode): readonly InterfaceNode[] {
  const found = new Set<InterfaceNode>();
  const walk = (at: ObjectNode | InterfaceNode): void => {
    for (const ref of at.interfaces) {
      const type = nodeOf(node.name, ref) as InterfaceNode;
      if (found.has(type) || type === node) continue;
      walk(type);
      found.add(type);
    }
  };
  walk(node);
  return [...found];
}
