import type { GateNode } from "../../kernel/access/gate-node.ts";
import { type FieldDeclaration, isDeclaration } from "../declare/fields/field-declaration.ts";
import type { AnyRef, InterfaceNode, NamedNode, ObjectNode, UnionNode } from "../declare/references/type-node.ts";
import { interfacesOf, typeGate } from "../declare/types/type-gate.ts";
import { abstractTypeResolver } from "./abstract-type-resolver.ts";
import { listGuard, objectGuard, type TypeGuard } from "./type-guard.ts";
import type { TypeNames } from "./type-names.ts";

/** The gates of the types of one schema, and what they mean for its fields. */
export class TypeGates {
  readonly #names: TypeNames;

  constructor(names: TypeNames) {
    this.#names = names;
  }

  /** Whether a gate may refuse an object of this type. */
  isGated(node: NamedNode): boolean {
    if (node.kind === "object") return typeGate(node) !== null;
    if (node.kind !== "interface" && node.kind !== "union") return false;
    return this.#names.members(node).some((member) => typeGate(member) !== null);
  }

  /**
   * Whether a field may be null although its resolver must not return null: it has a gate, or declares objects, or its objects
   * have a gate.
   */
  isNullable(place: string, { options, gates, params, type, items }: FieldDeclaration): boolean {
    if (options.nullable === false) return false;
    const isGuarded = gates.length > 0 || params.injected.some(({ subject }) => subject !== null);
    return isGuarded || [type, ...(items === null ? [] : [items])].some((ref) => this.#isGuarded(place, ref));
  }

  #isGuarded(place: string, ref: AnyRef): boolean {
    return this.guard(place, ref, false) !== null;
  }

  /** The guard of a result of this type; `null` if no type in it has a gate. */
  guard(place: string, ref: AnyRef, isWhole: boolean): TypeGuard | null {
    const node = this.#names.resolve(place, ref);
    if (node.kind === "nullable") return this.guard(place, node.of, isWhole);
    if (node.kind === "list") {
      const item = this.guard(place, node.of, isWhole);
      if (item === null) return null;
      // Items that may be null are often looked up by a list of ids, where leaving one out would tell a refused object from a
      // missing one and shift the others.
      const isNullable = this.#names.resolve(place, node.of).kind === "nullable";
      return listGuard(item, isWhole ? "whole list" : isNullable ? "null" : "left out");
    }
    if (node.kind === "optional" || node.kind === "validated" || !this.isGated(node)) return null;
    if (node.kind !== "object") return objectGuard(this.#memberGate(node as InterfaceNode | UnionNode));
    const gate = typeGate(node);
    return objectGuard(() => gate);
  }

  /**
   * Whether a field of an interface is nullable because a type that implements it guards the field, or the objects of the
   * field.
   */
  isOptional(node: ObjectNode | InterfaceNode, name: string): boolean {
    if (node.kind === "object") return false;
    return this.#names
      .nodes()
      .some(
        (type) =>
          (type.kind === "object" || type.kind === "interface") &&
          interfacesOf(type).includes(node) &&
          this.#isNullableIn(type, name),
      );
  }

  #isNullableIn(node: ObjectNode | InterfaceNode, name: string): boolean {
    return Object.entries(this.#names.fieldsOf(node)).some(([key, member]) => {
      const place = `${node.name}.${key}`;
      if (!isDeclaration(member)) return key === name && this.#isGuarded(place, member);
      return (member.options.name ?? key) === name && this.isNullable(place, member);
    });
  }

  /** The gate for a value of an interface or a union, by its object type. */
  #memberGate(node: InterfaceNode | UnionNode): (value: unknown) => GateNode | null {
    const members = this.#names.members(node);
    const gates = new Map(members.map((member) => [member.name, typeGate(member)]));
    const typeOf = abstractTypeResolver(node, () => members);
    return (value) => {
      const name: unknown = typeOf(value);
      const gate = gates.get(name as string);
      // Otherwise graphql could find a type with a gate that was not asked, such as from a promise.
      if (gate === undefined) throw new Error(`resolveType of ${node.name} must return the name of one of its types`);
      return gate;
    };
  }
}
