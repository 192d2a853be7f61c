import type { Class } from "../references/graph-type.ts";
import type { FieldDeclaration } from "./field-declaration.ts";
import { inheritGates } from "./inherit-gates.ts";

/** A decorated member of a class. */
export interface ClassMember {
  readonly key: string;
  readonly field: FieldDeclaration;
}

// Decorators run before the class exists, so the key is the object that they receive: the metadata or the prototype.
const byHome = new WeakMap<object, Map<string, ClassMember>>();

/** Registers a decorated member. `home` is the metadata of the class, or its prototype for a legacy decorator. */
export function registerMember(home: object, member: ClassMember): void {
  const members = byHome.get(home) ?? new Map<string, ClassMember>();
  members.set(member.key, member);
  byHome.set(home, members);
}

/**
 * The decorated members of a class and of the classes it extends. A member of a subclass replaces the inherited one, and
 * keeps its gates.
 */
export function classMembers(model: Class): ReadonlyMap<string, ClassMember> {
  const lineage: Class[] = [];
  for (let at: unknown = model; typeof at === "function" && at !== Function.prototype; at = Object.getPrototypeOf(at))
    lineage.unshift(at as Class);
  const members = new Map<string, ClassMember>();
  for (const ancestor of lineage) {
    for (const home of [Object.getOwnPropertyDescriptor(ancestor, METADATA)?.value, ancestor.prototype]) {
      for (const [key, member] of (home && byHome.get(home as object)) ?? []) {
        const inherited = members.get(key);
        const field = inherited === undefined ? member.field : inheritGates(member.field, [inherited.field]);
        members.set(key, { key, field });
      }
    }
  }
  return members;
}

// Compilers pass metadata to decorators only if this symbol exists when the class is evaluated, and Node does not define
// it yet. This module must be evaluated before any decorated class, so package.json lists the file that the build puts it
// in, in `sideEffects`.
const known = Symbol as { metadata?: symbol };
known.metadata ??= Symbol.for("Symbol.metadata");

/** The key under which a class holds the metadata of standard decorators. */
const METADATA: symbol = known.metadata;
