import type { Class } from "../references/graph-type.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { type AnyRef, isGraphType, type ObjectNode, type TypeNode } from "../references/type-node.ts";
import { classMembers } from "./class-members.ts";

const byClass = new WeakMap<object, ObjectNode>();
// A schema looks at each type several times, so the result of a thunk is kept.
const byThunk = new WeakMap<object, TypeNode>();

/** Makes `object(..., { model })` the type that its class refers to. */
export function registerModel(place: string, model: Class, node: ObjectNode): void {
  const other = byClass.get(model);
  if (other !== undefined)
    throw new ResolverError(place, `the class ${model.name} is already the model of ${other.name}`);
  byClass.set(model, node);
}

/** The node of a type, looked up through thunks and classes. `place` is where the type is used, for errors. */
export function nodeOf(place: string, ref: AnyRef): TypeNode {
  if (isGraphType(ref)) return ref["~node"];
  if (typeof ref !== "function")
    throw new ResolverError(
      place,
      "has no type. If the type is declared later in the file or in a module that imports this one, pass a thunk: () => Type",
    );
  const known = byThunk.get(ref);
  if (known !== undefined) return known;
  if (isClass(ref)) return nodeOfClass(place, ref);
  const given = ref();
  if (typeof given === "function" && !isGraphType(given) && !isClass(given))
    throw new ResolverError(place, "a thunk must return a type, not another thunk");
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
      `the class ${model.name} is not a GraphQL type. Put @field on its members, or pass it to object() as model`,
    );
  // esbuild renames a decorated class to _Shop, a minifier to e or Ze: such a name must not reach the schema.
  if (!/^[A-Z]\w{2,}$/.test(model.name))
    throw new ResolverError(
      place,
      `the name of the class ${model.name} may come from a bundler. Name its type explicitly: object("Shop", {}, { model: Shop })`,
    );
  const node: ObjectNode = {
    kind: "object",
    name: model.name,
    description: undefined,
    fields: {},
    interfaces: [],
    gate: null,
    model,
    node: null,
  };
  byClass.set(model, node);
  return node;
}

/** Whether a function is a class and not a thunk. */
export function isClass(value: unknown): value is Class {
  if (typeof value !== "function" || isGraphType(value)) return false;
  // The source of a built-in class, such as Map, is not available.
  const isWritten = /^class\b|^function \w+\(\) \{ \[native code\] \}$/.test(Function.prototype.toString.call(value));
  return byClass.has(value) || isWritten || classMembers(value as Class).size > 0;
}
