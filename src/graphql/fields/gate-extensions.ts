import { allGates, type GateNode } from "../../http/access/gate-node.ts";

/** The name is long, because applications have extensions too. */
const GATE = "portico.gate";

/** The extension of a field or a type that holds its gate, for tools that inspect the schema. */
export function gateExtensions(gates: readonly (GateNode | null)[]): Readonly<Record<string, GateNode>> {
  const gate = allGates(gates.filter((one) => one !== null));
  return gate === null ? {} : { [GATE]: gate };
}

/** The gate of a field or a type of a built schema; `null` if it has none. */
export function gateIn({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): GateNode | null {
  return (extensions[GATE] as GateNode | undefined) ?? null;
}
