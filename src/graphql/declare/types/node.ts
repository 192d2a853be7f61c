import { type InterfaceType, interfaceOf } from "./interface-type.ts";
import { id } from "./scalars.ts";

/** The type that each loaded object was loaded for. */
const TYPES = new WeakMap<object, string>();

/** The interface of all objects with a global id, as the Relay specification describes it. */
export const Node: InterfaceType<{ readonly id: string }> = interfaceOf(
  "Node",
  { id },
  {
    description: "An object that can be fetched by its id alone.",
    resolveType: (row) => TYPES.get(row) ?? "an object that node did not load",
  },
);

/**
 * Remembers the type of a loaded object, which decides about its gate. Throws if it has been loaded for another type, whose
 * gate could then apply instead.
 */
export function markNode<T extends object>(row: T, type: string): T {
  const known = TYPES.get(row);
  if (known !== undefined && known !== type)
    throw new TypeError(`node.load of ${type} returned an object that node.load of ${known} has returned before`);
  TYPES.set(row, type);
  return row;
}
