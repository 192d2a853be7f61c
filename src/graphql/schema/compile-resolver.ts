import type { GraphQLFieldResolver, GraphQLResolveInfo } from "graphql";
import { isPromise } from "../../core/maybe-promise.ts";
import type { SubjectPlace } from "../../dependencies/dependency-scope.ts";
import { allGates, type GateNode } from "../../kernel/access/gate-node.ts";
import type { RateLimit } from "../../kernel/limits/rate-limit.ts";
import type { FieldDeclaration, Finish } from "../declare/fields/field-declaration.ts";
import { denialSince, FieldQuestion, passGate } from "../declare/fields/field-question.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import { OperationOver } from "../operation/operation-over.ts";
import { type ArgPlan, type RawArgs, validatedArgs } from "./validated-args.ts";

export type Resolve = GraphQLFieldResolver<unknown, GraphContext, RawArgs>;
type Build = (source: unknown, args: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => Record<string, unknown>;

type ReadArgs = (raw: RawArgs) => Record<string, unknown>;

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
  check: ResultCheck | null,
): Resolve {
  const validate = validatedArgs(args);
  if (validate === null) return compileCall(field, argsBuilder(field, args), argsReader(args), receiver, check);
  const valid = args.map((arg) => (arg.validate === null ? arg : { ...arg, complete: null }));
  const build = argsBuilder(field, valid);
  const read = argsReader(valid);
  const resolve = compileCall(
    field,
    (source, raw, graph, info) => build(source, validate(raw), graph, info),
    read === null ? null : (raw) => read(validate(raw)),
    receiver,
    check,
  );
  // Copied, because executions of a document may share one object, and each of them validates its own.
  return (source, raw, graph, info) => resolve(source, { ...raw }, graph, info);
}

function compileCall(
  field: FieldDeclaration,
  build: Build,
  read: ReadArgs | null,
  receiver: object | null,
  check: ResultCheck | null,
): Resolve {
  const call = resolverCall(field, receiver);
  const { injected } = field.params;
  const placeOf = injected.some(({ subject }) => subject !== null) ? subjectPlaces(field, read) : null;
  const run: Resolve =
    injected.length === 0
      ? (source, raw, graph, info) => {
          if (isOver(graph)) throw new OperationOver();
          return call(source, build(source, raw, graph, info));
        }
      : (source, raw, graph, info) => {
          if (isOver(graph)) throw new OperationOver();
          const target = build(source, raw, graph, info);
          const place = placeOf === null ? null : placeOf(source, raw, graph, info);
          const filled = graph.dependencies.fill(injected, target, place);
          return filled === undefined ? call(source, target) : filled.then(() => call(source, target));
        };
  const complete = checked(field.finish === null ? run : finished(run, read, field.finish), check);
  return guarded(field, read, complete);
}

/** The places of a field whose parameters include objects. A mutation that is denied one of them did not run. */
function subjectPlaces(
  { operation }: FieldDeclaration,
  read: ReadArgs | null,
): (parent: unknown, raw: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => SubjectPlace {
  return (parent, raw, graph, info) => {
    const ctx = graph.connection;
    return {
      given: { args: read === null ? {} : read(raw), parent, ctx, context: ctx },
      denied: () => {
        if (operation === "mutation") graph.awaitsGate(info);
      },
    };
  };
}

/** Checks the result of a resolver, synchronously if it can. */
export type ResultCheck = (result: unknown, graph: GraphContext, info: GraphQLResolveInfo) => unknown;

export function checked(resolve: Resolve, check: ResultCheck | null): Resolve {
  if (check === null) return resolve;
  return (source, raw, graph, info) => {
    const result = resolve(source, raw, graph, info);
    return isPromise(result) ? result.then((later) => check(later, graph, info)) : check(result, graph, info);
  };
}

/** Puts the gates and the limits before a resolver. A mutation that they refuse did not run, and does not fail its operation. */
export function guarded(
  { operation, limits, gates }: Pick<FieldDeclaration, "operation" | "limits" | "gates">,
  read: ReadArgs | null,
  resolve: Resolve,
): Resolve {
  const gate = allGates(gates);
  if (operation === "subscription") return gatedAgain(gate, read, limited(limits, resolve));
  if (operation === "mutation") return guardedMutation(gate, read, limits, resolve);
  return gated(gate, read, limited(limits, resolve));
}

function guardedMutation(
  gate: GateNode | null,
  read: ReadArgs | null,
  limits: readonly RateLimit[],
  resolve: Resolve,
): Resolve {
  if (gate === null && limits.length === 0) return resolve;
  const run: Resolve = (source, raw, graph, info) => {
    graph.beginsToRun(info);
    return resolve(source, raw, graph, info);
  };
  const behind = limited(limits, run);
  const start = gated(gate, read, (source, raw, graph, info) => {
    graph.endsAtGates?.(info);
    return behind(source, raw, graph, info);
  });
  return (source, raw, graph, info) => {
    graph.awaitsGate(info);
    return start(source, raw, graph, info);
  };
}

function finished(run: Resolve, read: ReadArgs | null, finish: Finish): Resolve {
  return (source, raw, graph, info) =>
    finish({
      resolve: (parent, other = graph) => run(parent, raw, other, info),
      parent: source,
      args: read === null ? {} : read(raw),
      graph,
      info,
    });
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
  check: ResultCheck | null,
): Resolve {
  const property: Resolve = (source) => (receiver ?? (source as object | null | undefined))?.[key as never];
  return guarded(field, null, checked(property, check));
}

function limited(limits: readonly RateLimit[], resolve: Resolve): Resolve {
  if (limits.length === 0) return resolve;
  return async (source, raw, graph, info) => {
    for (const limit of limits) await limit.attempt(graph.connection);
    return resolve(source, raw, graph, info);
  };
}

function gated(gate: GateNode | null, read: ReadArgs | null, resolve: Resolve): Resolve {
  if (gate === null) return resolve;
  const ask = questioner(read);
  return (source, raw, graph, info) => {
    const passed = passGate(gate, ask(source, raw, graph, info));
    return passed === undefined
      ? resolve(source, raw, graph, info)
      : passed.then(() => resolve(source, raw, graph, info));
  };
}

/** A subscription outlives the verdict of its gate, so the operation keeps a function that rechecks it. */
function gatedAgain(gate: GateNode | null, read: ReadArgs | null, subscribe: Resolve): Resolve {
  if (gate === null) return subscribe;
  const ask = questioner(read);
  const start = gated(gate, read, subscribe);
  return (source, raw, graph, info) => {
    graph.denialSince = (now) => denialSince(gate, ask(source, raw, now, info));
    return start(source, raw, graph, info);
  };
}

function questioner(
  read: ReadArgs | null,
): (parent: unknown, raw: RawArgs, graph: GraphContext, info: GraphQLResolveInfo) => FieldQuestion {
  return (parent, raw, graph, info) => new FieldQuestion(graph, parent, read === null ? null : () => read(raw), info);
}

/** Reads all arguments by their names in the resolver. `null` if the field has none. */
export function argsReader(args: readonly Omit<ArgPlan, "validate">[]): ReadArgs | null {
  if (args.length === 0) return null;
  return (raw) => {
    const read: Record<string, unknown> = {};
    for (const { key, name, complete } of args) {
      const value = complete === null ? raw[name] : complete(raw[name]);
      if (value !== undefined) read[key] = value;
    }
    return read;
  };
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

/** A subscription to a topic has the event where other fields have their parent. */
const FOLLOWING: readonly Step[] = [
  ...AMBIENT.map((step) => (step.read === readParent ? { key: step.key, read: () => undefined } : step)),
  { key: "event", read: readParent },
];

function ambientSteps({ params, options }: FieldDeclaration): readonly Step[] {
  const ambient = options.from === undefined ? AMBIENT : FOLLOWING;
  return [
    ...ambient.filter(({ key }) => !params.names.has(key)),
    ...params.graph.map((key) => ({ key, read: readGraph })),
    ...params.info.map((key) => ({ key, read: readInfo })),
  ];
}
