import { isContextClass, isDependency } from "../../dependencies/depend.ts";
import { type ParamPlan, planParams } from "../../dependencies/param-plan.ts";
import { GraphContext } from "../operation/graph-context.ts";
import { isArg, plainArg } from "../types/arg.ts";
import { isClass } from "../types/node-of.ts";
import { type AnyRef, type ArgNode, isGraphType } from "../types/type-node.ts";
import { Info } from "./info.ts";
import { ResolverError } from "./resolver-error.ts";

/** The declared parameters of a field, grouped by the source of their values. */
export interface DeclaredParams {
  readonly names: ReadonlySet<string>;
  readonly args: readonly DeclaredArg[];
  /** Dependencies and contexts of the connection, in the order of their declaration. */
  readonly injected: readonly ParamPlan[];
  readonly graph: readonly string[];
  readonly info: readonly string[];
}
interface DeclaredArg extends ArgNode {
  /** The name in the resolver; `name`, if set, is the name in the schema. */
  readonly key: string;
}

const PARENT = new Set(["parent", "root", "self"]);
const AMBIENT = new Set([...PARENT, "ctx", "context", "info"]);

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
    if (isDependency(value)) {
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
  return { names: new Set(Object.keys(params)), args, injected: planParams(place, injected), graph, info };
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
