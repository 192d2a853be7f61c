import { allGates } from "../../kernel/access/gate-node.ts";
import type { ShownKind } from "../../pagination/strategies/shown-kind.ts";
import { type FieldDeclaration, isDeclaration } from "../declare/fields/field-declaration.ts";
import { nodeOf } from "../declare/fields/node-of.ts";
import type { AnyRef, ObjectNode } from "../declare/references/type-node.ts";
import { isLossless } from "../declare/types/is-lossless.ts";
import { shownKind } from "../declare/types/shown-kind.ts";
import { TypeNames } from "../schema/type-names.ts";
import type { ColumnField, ItemFields } from "./column-gates.ts";

/** The fields of a declared type. */
export function declaredItemFields(node: ObjectNode): ItemFields {
  const fields = Object.entries(new TypeNames().fieldsOf(node)).map(([key, member]): ColumnField => {
    const place = `${node.name}.${key}`;
    if (!isDeclaration(member))
      return {
        name: key,
        columns: [key],
        isUnchanged: isLosslessRef(place, member),
        shown: shownByRef(place, member),
        gate: null,
      };
    const name = member.options.name ?? key;
    const gate = allGates(member.gates);
    const property = propertyIn(node, key, member);
    const shown = shownByRef(place, member.type);
    if (property === null) return { name, columns: member.options.reads ?? [key], isUnchanged: false, shown, gate };
    return { name, columns: [property], isUnchanged: isLosslessRef(place, member.type), shown, gate };
  });
  return { name: node.name, fields };
}

/** The property that a declared field returns as it is. A global id contains its key. */
function propertyIn({ node }: ObjectNode, key: string, { resolver, member }: FieldDeclaration): string | null {
  if (node !== null && isDeclaration(node.idField) && resolver === node.idField.resolver) return node.key;
  return resolver === null ? (member ?? key) : null;
}

/** Whether a type returns its values as they are. A reference by name is not followed. */
function isLosslessRef(place: string, ref: AnyRef): boolean {
  const node = nodeOf(place, ref);
  if ("of" in node) return isLosslessRef(place, node.of);
  return node.kind === "enum" || (node.kind === "scalar" && isLossless(node.type));
}

function shownByRef(place: string, ref: AnyRef): ShownKind | null {
  const node = nodeOf(place, ref);
  if ("of" in node) return shownByRef(place, node.of);
  return node.kind === "scalar" ? shownKind(node.type) : null;
}
