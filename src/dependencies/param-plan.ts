import { ConfigurationError } from "../core/configuration-error.ts";
import { type Callable, callableOf, type Dependency, isContextClass, isDependency } from "./depend.ts";

/** How one provider is called. It is computed once, at declaration. */
export interface ProviderPlan {
  /** The callable as the author wrote it, so that two declarations of one function can share a value. */
  readonly identity: Callable;
  readonly name: string;
  readonly call: (args: object) => unknown;
  readonly params: readonly ParamPlan[];
}

export type ParamPlan =
  | { readonly name: string; readonly provider: ProviderPlan; readonly context: null }
  | { readonly name: string; readonly provider: null; readonly context: abstract new (...args: never) => object };

/** Names that a provider receives without declaring them; `ctx` and `context` may be declared as a context. */
const AMBIENT = new Set(["ctx", "context"]);

/**
 * Plans the declared parameters of a route, a resolver or a provider. `owner` is named in the errors, which are a value that is
 * neither `Depend(...)` nor a context class, a dependency under an ambient name, and a cycle.
 */
export function planParams(owner: string, params: Readonly<Record<string, unknown>>): readonly ParamPlan[] {
  return plan(owner, params, []);
}

function plan(
  owner: string,
  params: Readonly<Record<string, unknown>>,
  path: readonly Callable[],
): readonly ParamPlan[] {
  return Object.entries(params).map(([name, value]): ParamPlan => {
    if (isContextClass(value)) return { name, provider: null, context: value };
    if (!isDependency(value))
      throw new ConfigurationError(`${owner}: the parameter ${name}`, "Depend(...) or a context class", value);
    if (AMBIENT.has(name))
      throw new ConfigurationError(
        `${owner}: the parameter ${name}`,
        "is reserved for the context: choose another name for the dependency",
      );
    return { name, provider: planProvider(owner, value, path), context: null };
  });
}

function planProvider(owner: string, dependency: Dependency<unknown>, path: readonly Callable[]): ProviderPlan {
  const provider = dependency["~provider"];
  const identity = callableOf(provider);
  if (path.includes(identity)) {
    const cycle = [...path.slice(path.indexOf(identity)), identity].map(nameOf).join(" -> ");
    throw new ConfigurationError(`${owner}: a dependency`, `depends on itself: ${cycle}`);
  }
  const params = typeof provider === "function" ? {} : provider["~params"];
  const name = nameOf(identity);
  return {
    identity,
    name,
    call: identity as (args: object) => unknown,
    params: plan(`${owner}: ${name}`, params, [...path, identity]),
  };
}

function nameOf(callable: Callable): string {
  return callable.name === "" ? "an unnamed provider" : callable.name;
}
