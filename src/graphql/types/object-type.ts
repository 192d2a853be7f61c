import { resolveOptions, rule } from "../../core/resolve-options.ts";
import { type CheckFields, type FieldMap, interfaceList, readFields } from "./field-map.ts";
import type { Class, GraphType } from "./graph-type.ts";
import type { Implementable } from "./interface-type.ts";
import { registerModel } from "./node-of.ts";
import type { ObjectNode } from "./type-node.ts";
import { checkName, type TypeOptions, typeRules } from "./type-options.ts";

/** An object type; its values are `Out`. */
export interface ObjectType<Out> extends GraphType<Out, never, "object"> {
  readonly name: string;
}

/** What an object type may say about itself. */
export interface ObjectOptions<Row> extends TypeOptions {
  /** The interfaces it has the fields of. What it does not declare itself it takes from them. */
  readonly implements?: readonly Implementable<NoInfer<Row>>[];
  /** Its class: decorated members are fields too, and an instance tells an interface or a union which type it is. */
  readonly model?: Class<Row>;
}

/**
 * An object type. The constant is annotated with what its values are; `parent` in the resolvers is that.
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
  const node: ObjectNode = {
    kind: "object",
    name,
    description: read.description,
    fields: readFields(name, fields),
    interfaces: read.implements ?? [],
    model: read.model ?? null,
  };
  if (read.model !== undefined) registerModel(`object ${name}`, read.model, node);
  return { "~kind": "object", "~node": node, name };
}

const rules = {
  ...typeRules,
  implements: interfaceList,
  model: rule<Class>("a class", (value) => typeof value === "function"),
} as const;
