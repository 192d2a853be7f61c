import { callable, resolveOptions } from "../../../core/resolve-options.ts";
import { readGate } from "../../../kernel/access/read-gate.ts";
import type { GraphType } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { checkName, type GatedTypeOptions, gatedTypeRules } from "../references/type-options.ts";
import { type CheckFields, type FieldMap, interfaceList, readFields } from "./field-map.ts";

declare const ROW: unique symbol;

/**
 * An interface that an object with values of type `Row` can implement: it requires no property that `Row` does not
 * have.
 */
export interface Implementable<in Row> {
  readonly "~kind": "interface";
  readonly [ROW]?: (row: Row) => void;
}
/** An interface type. The values of a type that implements it have at least the properties of `Out`. */
export interface InterfaceType<Out> extends GraphType<Out, never, "interface">, Implementable<Out> {
  readonly "~kind": "interface";
}

/** The options of an interface type. */
export interface InterfaceOptions<Row> extends GatedTypeOptions<Row> {
  readonly implements?: readonly Implementable<NoInfer<Row>>[];
  /**
   * Returns the name of a value's object type. Not needed if every object that implements the interface has a `model`.
   */
  resolveType?(value: Row): string;
}

/**
 * Declares an interface. Objects list it in `implements` and inherit the fields that they do not declare themselves.
 *
 * @example
 * ```ts
 * import { type InterfaceType, object, type ObjectType, t } from "portico/graphql";
 *
 * interface BookRow { id: string; title: string }
 *
 * const Node: InterfaceType<{ id: string }> = t.interface(
 *   "Node",
 *   { id: t.id },
 *   { resolveType: (row) => ("title" in row ? "Book" : "Author") },
 * );
 * export const Book: ObjectType<BookRow> = object("Book", { title: t.string }, { implements: [Node] });
 * ```
 */
export function interfaceOf<Row, const F extends FieldMap<Row>>(
  name: string,
  fields: F & CheckFields<Row, NoInfer<F>>,
  options: InterfaceOptions<Row> = {},
): InterfaceType<Row> {
  const place = "t.interface";
  checkName(place, name);
  const read = resolveOptions(`${place} ${name}`, options, rules);
  return {
    "~kind": "interface",
    "~node": {
      kind: "interface",
      name,
      description: read.description,
      directives: read.directives,
      fields: readFields(name, fields),
      interfaces: read.implements ?? [],
      gate: read.auth === undefined ? null : readGate(`${place} ${name}`, read.auth, ResolverError),
      resolveType: read.resolveType ?? null,
    },
  };
}

const rules = { ...gatedTypeRules, implements: interfaceList, resolveType: callable } as const;
