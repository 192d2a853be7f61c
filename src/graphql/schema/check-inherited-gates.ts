import { checkKeepsGates, droppedGates } from "../fields/check-keeps-gates.ts";
import { type FieldDeclaration, isDeclaration } from "../fields/field-declaration.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { InterfaceNode, MemberNode } from "../types/type-node.ts";

type Fields = Readonly<Record<string, MemberNode>>;

/**
 * Rejects a type that would lose the gate of an interface: a field that redeclares an inherited one without its gates,
 * and a field that is inherited from two interfaces with different gates, whatever the order in `implements`.
 *
 * @param own the fields that the type declares itself
 * @param interfaces every interface of the type
 * @param ancestors the interfaces that an interface implements itself
 */
export function checkInheritedGates(
  type: string,
  own: Fields,
  interfaces: readonly InterfaceNode[],
  ancestors: (of: InterfaceNode) => readonly InterfaceNode[],
): void {
  const declared = byName(own);
  for (const name of new Set(interfaces.flatMap(({ fields }) => [...byName(fields).keys()]))) {
    const owners = interfaces.filter(({ fields }) => byName(fields).has(name));
    // An interface that redeclares a field of an ancestor replaces it; its own check made sure that it keeps the gates.
    const nearest = owners.filter((owner) => !owners.some((other) => ancestors(other).includes(owner)));
    const inherited = nearest.map(({ fields }) => declarationOf(byName(fields).get(name)));
    const place = `${type}.${name}`;
    if (declared.has(name))
      nearest.forEach((owner, at) =>
        checkKeepsGates(place, declarationOf(declared.get(name)), `the interface ${owner.name}`, inherited[at] ?? null),
      );
    else if (inherited.some((one) => inherited.some((other) => droppedGates(one, other).length > 0)))
      throw new ResolverError(
        place,
        `is inherited from the interfaces ${nearest.map((owner) => owner.name).join(" and ")}, which guard it with different gates. Declare the same auth, permissionClasses and limit in each of them, or declare the field in ${type} with all their gates`,
      );
  }
}

/** A plain type exposes a property and has no gates. */
function declarationOf(member: MemberNode | undefined): FieldDeclaration | null {
  return isDeclaration(member) ? member : null;
}

/** The fields by their names in the schema. */
function byName(fields: Fields): ReadonlyMap<string, MemberNode> {
  return new Map(
    Object.entries(fields).map(([key, member]) => [(isDeclaration(member) && member.options.name) || key, member]),
  );
}
