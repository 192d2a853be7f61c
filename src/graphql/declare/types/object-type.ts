import { objectRule, optionRule, resolveOptions } from "../../../core/resolve-options.ts";
import { readGate } from "../../../kernel/access/read-gate.ts";
import { registerModel } from "../fields/node-of.ts";
import type { Class, GraphType } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { MemberNode, NodeSource, ObjectNode } from "../references/type-node.ts";
import { checkName, type GatedTypeOptions, gatedTypeRules } from "../references/type-options.ts";
import { type CheckFields, type FieldMap, interfaceList, readFields } from "./field-map.ts";
import type { Implementable } from "./interface-type.ts";
import { Node } from "./node.ts";
import { type NodeOptions, nodeSource } from "./node-source.ts";

/** An object type with values of type `Out`. */
export interface ObjectType<Out> extends GraphType<Out, never, "object"> {
  readonly name: string;
}

/** The options of an object type. */
export interface ObjectOptions<Row> extends GatedTypeOptions<Row> {
  /** The interfaces that the type implements. It inherits the fields that it does not declare itself. */
  readonly implements?: readonly Implementable<NoInfer<Row>>[];
  /** Its class: decorated members are fields too, and interfaces and unions recognise the type by its instances. */
  readonly model?: Class<Row>;
  /**
   * Makes the objects available by id. The type implements `Node`, its field `id` is a global id, and the query type has
   * the fields `node` and `nodes`. The gate of the type applies to them. @default none
   */
  readonly node?: NodeOptions<NoInfer<Row>>;
}

/**
 * Declares an object type. Annotate the constant with the type of its values: `parent` in the resolvers has that type.
 *
 * @example
 * ```ts
 * import { field, object, type ObjectType, t } from "portico/graphql";
 *
 * interface BookRow { id: string; title: string; pages: number }
 *
 * export const Book: ObjectType<BookRow> = object("Book", {
 *   id: t.id,
 *   title: field(t.string, { description: "As on the cover." }),
 *   isLong: field(t.boolean)(({ parent }) => parent.pages > 500),
 * });
 * ```
 */
export function object<Row, const F extends FieldMap<Row>>(
  name: string,
  fields: F & CheckFields<Row, NoInfer<F>>,
  options: ObjectOptions<Row> = {},
): ObjectType<Row> {
  checkName("object", name);
  const read = resolveOptions(`object ${name}`, options, rules);
  const source = read.node === undefined ? null : nodeSource(name, read.node);
  const node: ObjectNode = {
    kind: "object",
    name,
    description: read.description,
    directives: read.directives,
    fields: withId(name, readFields(name, fields), source),
    interfaces: source === null ? (read.implements ?? []) : [...(read.implements ?? []), Node],
    gate: read.auth === undefined ? null : readGate(`object ${name}`, read.auth, ResolverError),
    model: read.model ?? null,
    node: source,
  };
  if (read.model !== undefined) registerModel(`object ${name}`, read.model, node);
  return { "~kind": "object", "~node": node, name };
}

function withId(
  name: string,
  fields: Readonly<Record<string, MemberNode>>,
  source: NodeSource | null,
): Readonly<Record<string, MemberNode>> {
  if (source === null) return fields;
  if (!Object.hasOwn(fields, "id")) return { id: source.idField, ...fields };
  throw new ResolverError(`${name}.id`, "is declared by the option node: rename the field or remove it");
}

const rules = {
  ...gatedTypeRules,
  node: objectRule("an object with load"),
  implements: interfaceList,
  model: optionRule<Class>("a class", (value) => typeof value === "function"),
} as const;
