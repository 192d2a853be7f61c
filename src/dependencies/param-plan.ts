import { didYouMean } from "../core/advice/did-you-mean.ts";
import { ConfigurationError } from "../core/configuration-error.ts";
import { sourceParameters } from "../core/source-parameters.ts";
import { type Callable, callableOf, type Dependency, isContextClass, isDependency } from "./depend.ts";
import { type AnySubject, isSubject } from "./subject.ts";

/** How one provider is called. It is computed once, at declaration. */
export interface ProviderPlan {
  /** The callable as the author wrote it, so that two declarations of one function can share a value. */
  readonly identity: Callable;
  readonly name: string;
  readonly call: (args: object) => unknown;
  readonly params: readonly ParamPlan[];
}

/** How one object is loaded: with values of its place, and with parameters that the scope has filled before it. */
export interface SubjectPlan {
  readonly subject: AnySubject;
  readonly params: readonly { readonly name: string; readonly from: string }[];
}

interface Param<
  P extends ProviderPlan | null = null,
  C extends (abstract new (...args: never) => object) | null = null,
  S extends SubjectPlan | null = null,
> {
  readonly name: string;
  readonly provider: P;
  readonly context: C;
  readonly subject: S;
}

export type ParamPlan =
  | Param<ProviderPlan>
  | Param<null, abstract new (...args: never) => object>
  | Param<null, null, SubjectPlan>;

/** Names that a provider receives without declaring them; `ctx` and `context` may be declared as a context. */
const AMBIENT = new Set(["ctx", "context"]);

/**
 * Plans the declared parameters of a route, a resolver or a provider. `owner` is named in the errors, which are a value that is
 * neither `Depend(...)` nor a context class, a dependency under an ambient name, and a cycle.
 *
 * @param given the names of the values that the place has for the load functions of subjects; `null` where none is accepted
 */
export function planParams(
  owner: string,
  params: Readonly<Record<string, unknown>>,
  given: readonly string[] | null = null,
): readonly ParamPlan[] {
  return given === null ? plan(owner, params, []) : planWithSubjects(owner, params, given);
}

/**
 * A parameter of a subject is resolved before it, and once: if the place declares the same dependency, both receive its value.
 * So an object is loaded in the transaction that the handler works in.
 */
function planWithSubjects(
  owner: string,
  params: Readonly<Record<string, unknown>>,
  given: readonly string[],
): readonly ParamPlan[] {
  const others = Object.fromEntries(Object.entries(params).filter(([, value]) => !isSubject(value)));
  const declared = plan(owner, others, []);
  const plans = new Set<ParamPlan>();
  let hidden = 0;
  for (const [name, value] of Object.entries(params)) {
    if (!isSubject(value)) {
      plans.add(declared.find((one) => one.name === name) as ParamPlan);
      continue;
    }
    const place = `${owner}: the parameter ${name}`;
    checkNames(place, value, given);
    const own = plan(place, value["~params"], []).map((param) => {
      const known = [...declared, ...plans].find((one) => isSame(one, param));
      const source = known ?? { ...param, name: `~${++hidden}` };
      plans.add(source);
      return { name: param.name, from: source.name };
    });
    plans.add({ name, provider: null, context: null, subject: { subject: value, params: own } });
  }
  return [...plans];
}

function isSame(one: ParamPlan, other: ParamPlan): boolean {
  return one.provider === null
    ? one.context !== null && one.context === other.context
    : one.provider.identity === other.provider?.identity;
}

/** Rejects a load function that reads a value which its place does not have. */
function checkNames(place: string, { "~load": load, "~params": params }: AnySubject, given: readonly string[]): void {
  const taken = Object.keys(params).find((name) => given.includes(name) && !AMBIENT.has(name));
  if (taken !== undefined)
    throw new ConfigurationError(
      place,
      `declares ${taken}, which its load function receives already: choose another name`,
    );
  const known = [...given, ...Object.keys(params)];
  const keys = sourceParameters(load)?.[0]?.keys ?? [];
  const stranger = keys.find((key) => !known.includes(key));
  if (stranger === undefined) return;
  const hint = didYouMean(stranger, known);
  throw new ConfigurationError(
    place,
    `loads its object by ${stranger}, which is not available here. ${hint === null ? "" : `${hint} `}Its load function receives ${known.join(", ")}`,
  );
}

function plan(
  owner: string,
  params: Readonly<Record<string, unknown>>,
  path: readonly Callable[],
): readonly ParamPlan[] {
  return Object.entries(params).map(([name, value]): ParamPlan => {
    if (isContextClass(value)) return { name, provider: null, context: value, subject: null };
    if (isSubject(value))
      throw new ConfigurationError(
        `${owner}: the parameter ${name}`,
        "is authorized(...), which only routes, fields and mutations have: load the object in the handler, and call ctx.authorize(rule, object)",
      );
    if (!isDependency(value))
      throw new ConfigurationError(`${owner}: the parameter ${name}`, "Depend(...) or a context class", value);
    if (AMBIENT.has(name))
      throw new ConfigurationError(
        `${owner}: the parameter ${name}`,
        "is reserved for the context: choose another name for the dependency",
      );
    return { name, provider: planProvider(owner, value, path), context: null, subject: null };
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
