import { isContextClass, isDependency } from "../../../dependencies/depend.ts";
import { planParams } from "../../../dependencies/param-plan.ts";
import { isSubject } from "../../../dependencies/subject.ts";
import { GraphContext } from "../../operation/graph-context.ts";
import { isArg, plainArg } from "../references/arg.ts";
import { ResolverError } from "../references/resolver-error.ts";
import { type AnyRef, type ArgNode, isGraphType } from "../references/type-node.ts";
import type { DeclaredArg, DeclaredParams } from "./field-declaration.ts";
import { Info } from "./info.ts";
import { isClass } from "./node-of.ts";

const PARENT = new Set(["parent", "root", "self"]);
const AMBIENT = new Set([...PARENT, "ctx", "context", "info"]);

/** The names in `FieldGiven`. */
const GIVEN = ["args", "parent", "ctx", "context"];

/** Whether every resolver receives this name without declaring it. */
export function isAmbient(name: string): boolean {
  return AMBIENT.has(name);
}

/** Groups the declared parameters. Throws `ResolverError` with the name of an invalid parameter. */
export function readDeclaredParams(place: string, params: Readonly<Record<string, unknown>>): DeclaredParams {
  const args: DeclaredArg[] = [];
  const graph: string[] = [];
  const info: string[] = [];
  const injected: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(params)) {
    if (PARENT.has(key))
      throw new ResolverError(
        place,
        `the name ${key} is reserved for the parent object: choose another name for the parameter`,
      );
    if (isDependency(value) || isSubject(value)) {
      if (AMBIENT.has(key))
        throw new ResolverError(
          place,
          `every resolver already receives ${key}: choose another name for the dependency`,
        );
      injected[key] = value;
    } else if (value === GraphContext) graph.push(key);
    else if (isContextClass(value)) injected[key] = value;
    else if (value === Info) info.push(key);
    else args.push({ ...readArg(place, key, value), key });
  }
  // A subscription outlives the question whether its caller may have the object.
  const given = place === "subscription" ? null : GIVEN;
  return { names: new Set(Object.keys(params)), args, injected: planParams(place, injected, given), graph, info };
}

function readArg(place: string, key: string, value: unknown): ArgNode {
  if (isArg(value)) return value["~arg"];
  if (isGraphType(value)) {
    const kind = value["~kind"];
    if (kind === "object" || kind === "interface" || kind === "union")
      throw new ResolverError(
        place,
        `the parameter ${key} has an output type. The type of an argument must be a scalar, an enum or t.input()`,
      );
    return plainArg(value);
  }
  if (typeof value === "function" && !isClass(value)) return plainArg(value as AnyRef);
  if (typeof value === "function")
    throw new ResolverError(
      place,
      `the parameter ${key} is the class ${value.name}, which is neither a context nor an argument type`,
    );
  throw new ResolverError(
    place,
    `the parameter ${key} has no type. Declare one, such as { ${key}: t.int }, or pass a thunk if the type is declared later in the file: () => Type`,
  );
}
