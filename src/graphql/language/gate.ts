import { isProduction } from "../../core/env.ts";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { Identity } from "../../http/identity.ts";
import type { GraphContext } from "../graph-context.ts";
import { type DeniedCode, GraphQLDenied } from "./denied.ts";
import type { GateFunction } from "./field-options.ts";
import { readParameters } from "./parameters.ts";
import { ResolverError } from "./resolver-error.ts";

/** A field's gate as it was declared. */
export type FieldGate =
  | { readonly kind: "signed-in" }
  /** Decides by the user alone: once per operation for all fields that share the function. */
  | { readonly kind: "user"; readonly decide: GateFunction }
  /** Looks at the object: once for every one; where the field takes arguments, every time. */
  | { readonly kind: "object"; readonly decide: GateFunction };

/** What a gate has said, or will: `true`, anything else for no, or the denial that it threw. Never rejects. */
export type Verdict = MaybePromise<unknown>;

/** Sorts a gate by how many parameters it takes. Throws `ResolverError` where that number lies. */
export function readGate(place: string, auth: true | GateFunction): FieldGate {
  if (auth === true) return { kind: "signed-in" };
  const parameters = readParameters(auth);
  if (parameters?.some(({ kind, hasDefault }) => kind === "rest" || hasDefault))
    throw new ResolverError(
      place,
      "a gate takes (user) or (user, { parent, args, ctx }), without defaults and without ...rest: the number of its parameters decides how often it is asked",
    );
  if (auth.length > 2)
    throw new ResolverError(
      place,
      `a gate takes (user) or (user, { parent, args, ctx }), this one takes ${auth.length} parameters`,
    );
  return { kind: auth.length === 2 ? "object" : "user", decide: auth };
}

/** What the gate is asked about. */
export interface GateQuestion {
  readonly parent: unknown;
  readonly args: () => unknown;
  /** Whether the field takes any. */
  readonly hasArgs: boolean;
}

/** Returns when the field is allowed, at once if nothing has to be awaited; throws or rejects with `GraphQLDenied`. */
export function passGate(gate: FieldGate, graph: GraphContext, question: GateQuestion): MaybePromise<void> {
  const verdict = verdictOf(gate, graph, question);
  return isPromise(verdict) ? Promise.resolve(verdict).then(judge) : judge(verdict);
}

/**
 * Asks again about what was allowed and is still open: the denial, or `null` while it stays allowed. A gate that fails takes
 * nothing away, as a store of credentials that is away revokes none: it is asked again.
 */
export async function denialSince(
  gate: FieldGate,
  graph: GraphContext,
  question: GateQuestion,
): Promise<GraphQLDenied | null> {
  try {
    const verdict = await verdictOf(gate, graph, question);
    if (verdict !== FAILED) judge(verdict);
    return null;
  } catch (error) {
    if (error instanceof GraphQLDenied) return error;
    throw error;
  }
}

function verdictOf(gate: FieldGate, graph: GraphContext, question: GateQuestion): Verdict {
  const { identity } = graph.connection;
  // Nobody is never asked about: a gate may rely on having a user.
  if (!identity.user.isAuthenticated) throw new GraphQLDenied(denialOf(identity));
  if (gate.kind === "signed-in") return true;
  return gate.kind === "user"
    ? askOnce(gate.decide, graph, undefined, () => undefined)
    : askAboutObject(gate.decide, graph, question);
}

function askAboutObject(decide: GateFunction, graph: GraphContext, question: GateQuestion): Verdict {
  const { parent, args, hasArgs } = question;
  const given = (): unknown => ({ parent, args: args(), ctx: graph.connection });
  return hasArgs ? ask(decide, graph, given()) : askOnce(decide, graph, parent, given);
}

function askOnce(decide: GateFunction, graph: GraphContext, subject: unknown, given: () => unknown): Verdict {
  const verdicts = graph.verdictsOf(decide);
  if (verdicts.has(subject)) return verdicts.get(subject);
  const verdict = ask(decide, graph, given());
  verdicts.set(subject, verdict);
  if (isPromise(verdict)) void Promise.resolve(verdict).then((settled) => verdicts.set(subject, settled));
  return verdict;
}

/** What the gate says. One that fails to say anything says no, and the log says why. */
function ask(decide: GateFunction, graph: GraphContext, given: unknown): Verdict {
  const fail = (error: unknown): unknown => {
    if (error instanceof GraphQLDenied) return error;
    graph.connection.log.error({ err: error, gate: decide.name }, "a gate failed: what it guards stays closed");
    return FAILED;
  };
  const heard = (verdict: unknown): unknown => {
    if (typeof verdict !== "boolean" && !(verdict instanceof GraphQLDenied)) warnOfVerdict(decide, graph);
    return verdict;
  };
  try {
    const verdict: unknown = decide(graph.connection.user as never, given as never);
    return isPromise(verdict) ? withinPatience(verdict).then(heard).catch(fail) : heard(verdict);
  } catch (error) {
    return fail(error);
  }
}

const WARNED = new WeakSet<GateFunction>();

/** Says once for each gate that it answers neither yes nor no, outside production. */
function warnOfVerdict(decide: GateFunction, graph: GraphContext): void {
  if (WARNED.has(decide) || isProduction()) return;
  WARNED.add(decide);
  graph.connection.log.warn(
    { gate: decide.name },
    "a gate returned neither true nor false: only true opens, so what it guards stays closed",
  );
}

/** What a gate says that failed. */
const FAILED = Symbol("failed");

const PATIENCE_MS = 5_000;

/** A gate that waits for ever would hold what it has read, and everybody who shares it, until the operation's own end. */
function withinPatience(verdict: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the gate has not decided within ${PATIENCE_MS / 1000} s`)),
      PATIENCE_MS,
    ).unref();
    const settle =
      <T>(how: (value: T) => void) =>
      (value: T): void => {
        clearTimeout(timer);
        how(value);
      };
    verdict.then(settle(resolve), settle(reject));
  });
}

/** What nobody is told. */
function denialOf({ failure, refusal }: Identity): DeniedCode {
  if (failure !== undefined) return "SERVICE_UNAVAILABLE";
  return refusal === undefined ? "UNAUTHENTICATED" : "FORBIDDEN";
}

// Only `true` opens: a gate that forgot to compare returns an object, and that is truthy.
function judge(verdict: unknown): void {
  if (verdict === true) return;
  throw verdict instanceof GraphQLDenied ? verdict : new GraphQLDenied("FORBIDDEN");
}
