import type { GateNode } from "../../../kernel/access/gate-node.ts";
import type { FieldDeclaration } from "./field-declaration.ts";
import { allReads } from "./reads-of.ts";

/**
 * Returns a field with the gates and limits of the fields that it redeclares or inherits. Gates add up. `auth: false` drops the
 * inherited `auth`, and only that.
 */
export function inheritGates(field: FieldDeclaration, inherited: readonly FieldDeclaration[]): FieldDeclaration {
  const isOpen = field.options.auth === false;
  const gates = new Map<unknown, GateNode>();
  for (const gate of inherited.flatMap((one) => one.gates))
    if (!isOpen || gate.kind === "place") gates.set(identityOf(gate), gate);
  for (const gate of field.gates) gates.set(identityOf(gate), gate);
  const limits = new Set([...inherited.flatMap((one) => one.limits), ...field.limits]);
  const reads = allReads([field, ...inherited].map((one) => one.gateReads));
  return { ...field, gates: [...gates.values()], limits: [...limits], gateReads: reads };
}

/** The value that two declarations of the same gate share. */
function identityOf(gate: GateNode): unknown {
  if (gate.kind === "function") return gate.decide;
  return gate.kind === "rule" ? gate.rule : gate;
}
