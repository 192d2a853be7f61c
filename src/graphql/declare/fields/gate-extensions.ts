import type { ParamPlan } from "../../../dependencies/param-plan.ts";
import { type DeclaredObject, declaredObjects } from "../../../kernel/access/authorized.ts";
import { allGates, type GateNode } from "../../../kernel/access/gate-node.ts";

/** The name is long, because applications have extensions too. */
const GATE = "portico.gate";
const OBJECTS = "portico.objects";

/** The extension of a field or a type that holds its gate, for tools that inspect the schema. */
export function gateExtensions(gates: readonly (GateNode | null)[]): Readonly<Record<string, GateNode>> {
  const gate = allGates(gates.filter((one) => one !== null));
  return gate === null ? {} : { [GATE]: gate };
}

/** The gate of a field or a type of a built schema; `null` if it has none. */
export function gateIn({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): GateNode | null {
  return (extensions[GATE] as GateNode | undefined) ?? null;
}

/** The extension of a field that holds the objects among its parameters, by their names. */
export function objectExtensions(
  params: readonly ParamPlan[],
): Readonly<Record<string, ReadonlyMap<string, DeclaredObject>>> {
  const objects = declaredObjects(params);
  return objects.size === 0 ? {} : { [OBJECTS]: objects };
}

/** The objects among the parameters of a field of a built schema. */
export function objectsIn({
  extensions,
}: {
  readonly extensions: Readonly<Record<string, unknown>>;
}): ReadonlyMap<string, DeclaredObject> {
  return (extensions[OBJECTS] as ReadonlyMap<string, DeclaredObject> | undefined) ?? new Map();
}
