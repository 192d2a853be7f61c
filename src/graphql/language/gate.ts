import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../http/context.ts";
import type { GraphContext } from "../graph-context.ts";
import { GraphQLDenied } from "./denied.ts";
import type { GateFunction } from "./field-options.ts";
import { readParameters } from "./parameters.ts";
import { ResolverError } from "./resolver-error.ts";

/** A field's gate as it was declared. */
export type FieldGate =
  | { readonly kind: "signed-in" }
  /** Decides by the user alone: once per operation for all fields that share the function. */
  | { readonly kind: "user"; readonly decide: GateFunction }
  /** Looks at the object: for every one. */
  | { readonly kind: "object"; readonly decide: GateFunction };

/** What a gate of the user alone has said: its answer, its promise, or what it threw. */
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

/** What the gate is asked about, built only for one that looks. */
export type GateQuestion = () => { readonly parent: unknown; readonly args: unknown; readonly ctx: BaseContext };

/** Returns when the field is allowed, at once if nothing has to be awaited; throws or rejects with `GraphQLDenied`. */
export function passGate(gate: FieldGate, graph: GraphContext, question: GateQuestion): MaybePromise<void> {
  const { identity } = graph.connection;
  // Nobody is never asked about: a gate may rely on having a user.
  if (!identity.user.isAuthenticated)
    throw new GraphQLDenied(identity.failure === undefined ? "UNAUTHENTICATED" : "SERVICE_UNAVAILABLE");
  if (gate.kind === "signed-in") return;
  const verdict =
    gate.kind === "user" ? askOnce(gate.decide, graph) : gate.decide(identity.user as never, question() as never);
  return isPromise(verdict) ? Promise.resolve(verdict).then(judge) : judge(verdict);
}

function askOnce(decide: GateFunction, graph: GraphContext): Verdict {
  const { verdicts } = graph;
  if (verdicts.has(decide)) return verdicts.get(decide);
  const verdict = ask(decide, graph);
  verdicts.set(decide, verdict);
  if (isPromise(verdict))
    verdict.then(
      (settled) => verdicts.set(decide, settled),
      () => {},
    );
  return verdict;
}

/** What the gate throws is its answer for the whole operation too. */
function ask(decide: GateFunction, graph: GraphContext): Verdict {
  try {
    return decide(graph.connection.user as never, undefined as never);
  } catch (error) {
    return Promise.reject(error);
  }
}

// Only `true` opens: a gate that forgot to compare returns an object, and that is truthy.
function judge(verdict: unknown): void {
  if (verdict !== true) throw new GraphQLDenied("FORBIDDEN");
}
