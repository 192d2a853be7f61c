import type { GraphQLResolveInfo } from "graphql";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import { within } from "../../core/within.ts";
import type { Identity } from "../../http/identity/identity.ts";
import type { GraphContext } from "../operation/graph-context.ts";
import type { FieldPermission, GateFunction, ResolvedFieldOptions } from "./field-options.ts";
import { type DeniedCode, denialWith, GraphQLDenied } from "./graphql-denied.ts";
import { ResolverError } from "./resolver-error.ts";
import { sourceParameters } from "./source-parameters.ts";

/** One gate of a field as it was declared. A field may have several: all of them must allow access. */
export type FieldGate =
  | { readonly kind: "signed-in" }
  /** Depends only on the user: called once per operation for all fields that share the function. */
  | { readonly kind: "user"; readonly decide: GateFunction }
  /** Depends on the object: called once for each object, or on every call if the field has arguments. */
  | { readonly kind: "object"; readonly decide: GateFunction }
  /** An entry of `permissionClasses`, with the object whose `hasPermission` is called, for anonymous callers too. */
  | { readonly kind: "permission"; readonly entry: unknown; readonly permission: FieldPermission };

/**
 * The result of a gate: `true` allows access, any other value denies it, and so does a denial that it threw. Never
 * rejects.
 */
export type Verdict = MaybePromise<unknown>;

/** The gates of a field, in the order in which they are checked: `auth`, then each entry of `permissionClasses`. */
export function readGates(place: string, { auth, permissionClasses = [] }: ResolvedFieldOptions): readonly FieldGate[] {
  return [
    ...(auth === undefined ? [] : [readGate(place, auth)]),
    ...permissionClasses.map((entry, index) => readPermission(`${place}.permissionClasses[${index}]`, entry)),
  ];
}

/**
 * Determines the kind of a gate from its number of parameters. Throws `ResolverError` if that number is not reliable.
 */
function readGate(place: string, auth: true | GateFunction): FieldGate {
  if (auth === true) return { kind: "signed-in" };
  const parameters = sourceParameters(auth);
  if (parameters?.some(({ kind, hasDefault }) => kind === "rest" || hasDefault))
    throw new ResolverError(
      place,
      "a gate takes (user) or (user, { parent, args, ctx }), without defaults and without ...rest: the number of its parameters decides how often it is called",
    );
  if (auth.length > 2)
    throw new ResolverError(
      place,
      `a gate takes (user) or (user, { parent, args, ctx }), but this one takes ${auth.length} parameters`,
    );
  return { kind: auth.length === 2 ? "object" : "user", decide: auth };
}

/**
 * Creates one instance of a class. Rejects an entry without `hasPermission`: ignoring it would leave the field open.
 */
function readPermission(option: string, entry: unknown): FieldGate {
  const permission = typeof entry === "function" ? instanceOf(option, entry as new () => unknown) : entry;
  if (typeof (permission as Partial<FieldPermission> | null | undefined)?.hasPermission !== "function")
    throw new ConfigurationError(
      option,
      "a class with the method hasPermission(source, info), or an instance of one",
      entry,
    );
  return { kind: "permission", entry, permission: permission as FieldPermission };
}

function instanceOf(option: string, entry: new () => unknown): unknown {
  try {
    return new entry();
  } catch (cause) {
    throw new ResolverError(option, "could not construct the class without arguments: pass an instance instead", {
      cause,
    });
  }
}

/** The field and the arguments that a gate is called with. */
export interface GateQuestion {
  readonly parent: unknown;
  readonly args: () => unknown;
  /** Whether the field has arguments. */
  readonly hasArgs: boolean;
  readonly info: GraphQLResolveInfo;
}

/**
 * Returns if every gate allows access, synchronously if all of them do; throws or rejects with `GraphQLDenied`
 * otherwise.
 */
export function passGates(
  gates: readonly FieldGate[],
  graph: GraphContext,
  question: GateQuestion,
  from = 0,
): MaybePromise<void> {
  for (let at = from; at < gates.length; at++) {
    const verdict = verdictOf(gates[at] as FieldGate, graph, question);
    if (isPromise(verdict))
      return Promise.resolve(verdict).then((settled) => {
        judge(settled, graph);
        return passGates(gates, graph, question, at + 1);
      });
    judge(verdict, graph);
  }
}

/**
 * Rechecks the gates of a subscription that is still open. Returns the denial, or `null` while access stays allowed. A
 * gate that fails does not end the subscription, as an outage of the credential store does not revoke credentials.
 */
export async function denialSince(
  gates: readonly FieldGate[],
  graph: GraphContext,
  question: GateQuestion,
): Promise<GraphQLDenied | null> {
  try {
    for (const gate of gates) {
      const verdict = await verdictOf(gate, graph, question);
      if (verdict !== FAILED) judge(verdict, graph);
    }
    return null;
  } catch (error) {
    if (error instanceof GraphQLDenied) return error;
    throw error;
  }
}

function verdictOf(gate: FieldGate, graph: GraphContext, question: GateQuestion): Verdict {
  // Throws in a shared subscription, where one verdict must not apply to all subscribers.
  const { identity } = graph.connection;
  if (gate.kind === "permission") {
    const { permission } = gate;
    const { parent, info } = question;
    return ask(permission, graph, () => permission.hasPermission(parent, info));
  }
  // A gate is never called for anonymous callers, so that it can rely on having a user.
  if (!identity.user.isAuthenticated) throw denialWith(denialOf(identity));
  if (gate.kind === "signed-in") return true;
  return gate.kind === "user"
    ? askOnce(gate.decide, graph, undefined, () => undefined)
    : askAboutObject(gate.decide, graph, question);
}

function askAboutObject(decide: GateFunction, graph: GraphContext, question: GateQuestion): Verdict {
  const { parent, args, hasArgs } = question;
  const given = (): unknown => ({ parent, args: args(), ctx: graph.connection });
  return hasArgs ? askGate(decide, graph, given()) : askOnce(decide, graph, parent, given);
}

function askOnce(decide: GateFunction, graph: GraphContext, subject: unknown, given: () => unknown): Verdict {
  const verdicts = graph.verdictsOf(decide);
  if (verdicts.has(subject)) return verdicts.get(subject);
  const verdict = askGate(decide, graph, given());
  verdicts.set(subject, verdict);
  if (isPromise(verdict)) void Promise.resolve(verdict).then((settled) => verdicts.set(subject, settled));
  return verdict;
}

function askGate(decide: GateFunction, graph: GraphContext, given: unknown): Verdict {
  return ask(decide, graph, () => decide(graph.connection.user as never, given as never));
}

/** Calls the gate. A gate that fails denies access, and the error is logged. */
function ask(gate: GateFunction | FieldPermission, graph: GraphContext, decide: () => unknown): Verdict {
  const fail = (error: unknown): unknown => {
    if (error instanceof GraphQLDenied) return error;
    const verdicts = graph.verdictsOf(gate);
    // Logged once per operation, because the gate may be called for every object of a long list.
    if (!verdicts.has(FAILED))
      graph.connection.log.error({ err: error, gate: nameOf(gate) }, "a gate failed; no access is granted");
    verdicts.set(FAILED, FAILED);
    return FAILED;
  };
  const heard = (verdict: unknown): unknown => {
    if (typeof verdict !== "boolean" && !(verdict instanceof GraphQLDenied)) warnOfVerdict(gate, graph);
    return verdict;
  };
  try {
    const verdict: unknown = decide();
    return isPromise(verdict) ? within(PATIENCE_MS, verdict).then(heard).catch(fail) : heard(verdict);
  } catch (error) {
    return fail(error);
  }
}

const WARNED = new WeakSet<GateFunction | FieldPermission>();

const nameOf = (gate: GateFunction | FieldPermission): string =>
  typeof gate === "function" ? gate.name : gate.constructor.name;

/** Logs once for each gate, outside production, that it returned a value that is not a boolean. */
function warnOfVerdict(gate: GateFunction | FieldPermission, graph: GraphContext): void {
  if (WARNED.has(gate) || isProduction()) return;
  WARNED.add(gate);
  graph.connection.log.warn({ gate: nameOf(gate) }, "a gate returned neither true nor false; access is denied");
}

/** The verdict of a gate that failed. */
const FAILED = Symbol("failed");

/** The time that a gate has to settle. */
const PATIENCE_MS = 5_000;

/** The code of the denial for a caller who is not signed in. */
function denialOf({ failure, refusal }: Identity): DeniedCode {
  if (failure !== undefined) return "SERVICE_UNAVAILABLE";
  return refusal === undefined ? "UNAUTHENTICATED" : "FORBIDDEN";
}

// Only `true` allows access: a gate that forgot to compare returns an object, and objects are truthy.
function judge(verdict: unknown, graph: GraphContext): void {
  if (verdict === true) return;
  if (verdict instanceof GraphQLDenied) throw verdict;
  const { identity } = graph.connection;
  throw denialWith(identity.user.isAuthenticated ? "FORBIDDEN" : denialOf(identity));
}
