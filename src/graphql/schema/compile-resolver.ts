import type { GraphQLFieldResolver, GraphQLResolveInfo } from "graphql";
import { isPromise } from "../../core/maybe-promise.ts";
import { allGates, type GateNode } from "../../http/access/gate-node.ts";
import type { RateLimit } from "../../http/limits/rate-limit.ts";
import type { FieldDeclaration, Finish } from "../fields/field-declaration.ts";
import { denialSince, FieldQuestion, passGate } from "../fields/field-question.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { OperationOver } from "../operation/operation-over.ts";
import type { Complete } from "./input-completion.ts";

type RawArgs = Readonly<Record<string, unknown>>;
export type Resolve = GraphQLFieldResolver<unknown, GraphContext, RawArgs>;
type Build = (source: unknown, args: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => Record<string, unknown>;

/** How one argument is passed to the resolver. */
export interface ArgPlan {
  /** The name in the resolver. */
  readonly key: string;
  /** The name in the schema. */
  readonly name: string;
  readonly complete: Complete;
}

/**
 * Compiles a field once to the function that graphql calls: the gate, the limit, the dependencies, then the resolver
 * with only the names that it destructures. It stays synchronous unless a step returns a promise.
 *
 * @param receiver the instance to call the method on, for a root; `null` if that instance is the parent object
 */
export function compileResolver(
  field: FieldDeclaration,
  args: readonly ArgPlan[],
  receiver: object | null,
  check: CheckResult | null,
): Resolve {
  const call = resolverCall(field, receiver);
  const build = argsBuilder(field, args);
  const { injected } = field.params;
  const run: Resolve =
    injected.length === 0
      ? (source, raw, graph, info) => {
          if (isOver(graph)) throw new OperationOver();
          return call(source, build(source, raw, graph, info));
        }
      : (source, raw, graph, info) => {
          if (isOver(graph)) throw new OperationOver();
          const target = build(source, raw, graph, info);
          const filled = graph.dependencies.fill(injected, target);
          return filled === undefined ? call(source, target) : filled.then(() => call(source, target));
        };
  const complete = checked(field.finish === null ? run : finished(run, args, field.finish), check);
  return guarded(field, args, complete);
}

/** Checks the result of a resolver, synchronously if it can. */
export type CheckResult = (result: unknown, graph: GraphContext) => unknown;

export function checked(resolve: Resolve, check: CheckResult | null): Resolve {
  if (check === null) return resolve;
  return (source, raw, graph, info) => {
    const result = resolve(source, raw, graph, info);
    return isPromise(result) ? result.then((later) => check(later, graph)) : check(result, graph);
  };
}

/** Puts the gates and the limits before a resolver. A mutation that they refuse did not run, and does not fail its operation. */
function guarded(field: FieldDeclaration, args: readonly ArgPlan[], resolve: Resolve): Resolve {
  const { operation, limits } = field;
  const gate = allGates(field.gates);
  if (operation === "subscription") return gatedAgain(gate, args, limited(limits, resolve));
  if (operation === "mutation") return afresh(guardedMutation(gate, args, limits, resolve));
  return gated(gate, args, limited(limits, resolve));
}

/** Root fields of a mutation run one after another, so each may change the objects that gates decided about before. */
function afresh(resolve: Resolve): Resolve {
  return (source, raw, graph, info) => {
    // Without an endpoint the schema may run without a context.
    (graph as GraphContext | undefined)?.forgetObjects();
    return resolve(source, raw, graph, info);
  };
}

function guardedMutation(
  gate: GateNode | null,
  args: readonly ArgPlan[],
  limits: readonly RateLimit[],
  resolve: Resolve,
): Resolve {
  if (gate === null && limits.length === 0) return resolve;
  const run: Resolve = (source, raw, graph, info) => {
    graph.beginsToRun(info);
    return resolve(source, raw, graph, info);
  };
  const start = gated(gate, args, limited(limits, run));
  return (source, raw, graph, info) => {
    graph.awaitsGate(info);
    return start(source, raw, graph, info);
  };
}

function finished(run: Resolve, args: readonly ArgPlan[], finish: Finish): Resolve {
  return (source, raw, graph, info) => {
    const given = run(source, raw, graph, info);
    const call = { parent: source, args: readArgs(args, raw), graph, info };
    return isPromise(given) ? given.then((value) => finish(value, call)) : finish(given, call);
  };
}

/** Without an endpoint the schema may run without a context, and then an operation cannot be cancelled. */
function isOver(graph: GraphContext | undefined): boolean {
  return graph !== undefined && graph.isOver;
}

/** Compiles the resolver of a field that exposes a property of its parent. */
export function compileProperty(
  key: string,
  field: FieldDeclaration,
  receiver: object | null,
  check: CheckResult | null,
): Resolve {
  const property: Resolve = (source) => (receiver ?? (source as object | null | undefined))?.[key as never];
  return guarded(field, [], checked(property, check));
}

function limited(limits: readonly RateLimit[], resolve: Resolve): Resolve {
  if (limits.length === 0) return resolve;
  return async (source, raw, graph, info) => {
    for (const limit of limits) await limit.attempt(graph.connection);
    return resolve(source, raw, graph, info);
  };
}

function gated(gate: GateNode | null, args: readonly ArgPlan[], resolve: Resolve): Resolve {
  if (gate === null) return resolve;
  const ask = questioner(args);
  return (source, raw, graph, info) => {
    const passed = passGate(gate, ask(source, raw, graph, info));
    return passed === undefined
      ? resolve(source, raw, graph, info)
      : passed.then(() => resolve(source, raw, graph, info));
  };
}

/** A subscription outlives the verdict of its gate, so the operation keeps a function that rechecks it. */
function gatedAgain(gate: GateNode | null, args: readonly ArgPlan[], subscribe: Resolve): Resolve {
  if (gate === null) return subscribe;
  const ask = questioner(args);
  const start = gated(gate, args, subscribe);
  return (source, raw, graph, info) => {
    graph.denialSince = (now) => denialSince(gate, ask(source, raw, now, info));
    return start(source, raw, graph, info);
  };
}

function questioner(
  args: readonly ArgPlan[],
): (parent: unknown, raw: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => FieldQuestion {
  const hasArgs = args.length > 0;
  return (parent, raw, graph, info) =>
    new FieldQuestion(graph, parent, hasArgs ? () => readArgs(args, raw) : null, info);
}

function readArgs(args: readonly ArgPlan[], raw: RawArgs): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const { key, name, complete } of args) {
    const value = complete === null ? raw[name] : complete(raw[name]);
    if (value !== undefined) read[key] = value;
  }
  return read;
}

function resolverCall(field: FieldDeclaration, receiver: object | null): (source: unknown, args: object) => unknown {
  const resolver = field.resolver as (this: unknown, args: object) => unknown;
  const { member } = field;
  if (member === null) return (_source, args) => resolver(args);
  return (source, args) => {
    const self = receiver ?? source;
    // Looked up on every call: another decorator or a subclass may have replaced the method.
    const method = (self as Record<string, unknown> | null | undefined)?.[member];
    return (typeof method === "function" ? method : resolver).call(self, args);
  };
}

interface Step {
  readonly key: string;
  readonly read: (source: unknown, args: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => unknown;
}

function argsBuilder(field: FieldDeclaration, args: readonly ArgPlan[]): Build {
  const { keys, params } = field;
  const taken = keys === null ? args : args.filter(({ key }) => keys.has(key));
  const others = ambientSteps(field).filter(({ key }) => keys === null || keys.has(key));
  const isFresh = params.injected.length > 0;

  // The resolver destructures exactly the arguments that graphql passes, so no other object is needed.
  const isAsItComes =
    keys !== null && others.length === 0 && taken.every(({ key, name, complete }) => key === name && complete === null);
  if (isAsItComes) return isFresh ? (_source, raw) => ({ ...raw }) : (_source, raw) => raw;

  const steps = [...taken.map(argStep), ...others];
  const [only] = steps;
  if (steps.length === 1 && only !== undefined)
    return (source, raw, graph, info) => ({ [only.key]: only.read(source, raw, graph, info) });
  return (source, raw, graph, info) => {
    const target: Record<string, unknown> = {};
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as Step;
      target[step.key] = step.read(source, raw, graph, info);
    }
    return target;
  };
}

function argStep({ key, name, complete }: ArgPlan): Step {
  return { key, read: complete === null ? (_source, raw) => raw[name] : (_source, raw) => complete(raw[name]) };
}

const readConnection: Step["read"] = (_source, _raw, graph) => graph.connection;
const readParent: Step["read"] = (source) => source;
const readGraph: Step["read"] = (_source, _raw, graph) => graph;
const readInfo: Step["read"] = (_source, _raw, _graph, info) => info;

const AMBIENT: readonly Step[] = [
  { key: "ctx", read: readConnection },
  { key: "context", read: readConnection },
  { key: "parent", read: readParent },
  { key: "root", read: readParent },
  { key: "self", read: readParent },
  { key: "info", read: readInfo },
];

function ambientSteps({ params }: FieldDeclaration): readonly Step[] {
  return [
    ...AMBIENT.filter(({ key }) => !params.names.has(key)),
    ...params.graph.map((key) => ({ key, read: readGraph })),
    ...params.info.map((key) => ({ key, read: readInfo })),
  ];
}
