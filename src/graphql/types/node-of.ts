import { classMembers } from "../fields/class-members.ts";
import { ResolverError } from "../fields/resolver-error.ts";
import type { Class } from "./graph-type.ts";
import { type AnyRef, isGraphType, type ObjectNode, type TypeNode } from "./type-node.ts";

const byClass = new WeakMap<object, ObjectNode>();
// A thunk is asked once: a schema looks at each type several times.
const byThunk = new WeakMap<object, TypeNode>();

/** Makes `object(..., { model })` the type of that class wherever the class stands for one. */
export function registerModel(place: string, model: Class, node: ObjectNode): void {
  const other = byClass.get(model);
  if (other !== undefined)
    throw new ResolverError(place, `the class ${model.name} is the model of ${other.name} already`);
  byClass.set(model, node);
}

/** What a type is made of, through thunks and classes. `place` is where it is wanted. */
export function nodeOf(place: string, ref: AnyRef): TypeNode {
  if (isGraphType(ref)) return ref["~node"];
  if (typeof ref !== "function")
    throw new ResolverError(
      place,
      "carries no type; when the type is declared further down or in a module that imports this one, give a thunk: () => Type",
    );
  const known = byThunk.get(ref);
  if (known !== undefined) return known;
  if (isClass(ref)) return nodeOfClass(place, ref);
  const given = ref();
  if (typeof given === "function" && !isGraphType(given) && !isClass(given))
    throw new ResolverError(place, "a thunk gives a type, not another thunk");
  const node = nodeOf(place, given);
  byThunk.set(ref, node);
  return node;
}

function nodeOfClass(place: string, model: Class): ObjectNode {
  const known = byClass.get(model);
  if (known !== undefined) return known;
  if (classMembers(model).size === 0)
    throw new ResolverError(
      place,
      `the class ${model.name} is no type: put @field on its members, or give it to object() as its model`,
    );
  // esbuild calls a decorated class _Shop, a minifier e or Ze: such a name must not become that of a type.
  if (!/^[A-Z]\w{2,}$/.test(model.name))
    throw new ResolverError(
      place,
      `the class ${model.name} has a name that a bundler may have given it: name its type, object("Shop", {}, { model: Shop })`,
    );
  const node: ObjectNode = {
    kind: "object",
    name: model.name,
    description: undefined,
    fields: {},
    interfaces: [],
    model,
  };
  byClass.set(model, node);
  return node;
}

/** Whether a function is a class and not a thunk. */
export function isClass(value: unknown): value is Class {
  if (typeof value !== "function" || isGraphType(value)) return false;
  // A class of the platform, such as Map, has no source.
  const isWritten = /^class\b|^function \w+\(\) \{ \[native code\] \}$/.test(Function.prototype.toString.call(value));
  return byClass.has(value) || isWritten || classMembers(value as Class).size > 0;
}
