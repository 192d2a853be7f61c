import { loggable } from "../../core/describe-error.ts";
import { isProduction } from "../../core/env.ts";
import { andThen, isPromise, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import type { GateFunction } from "./gate.ts";
import { type GateNode, nameOf } from "./gate-node.ts";
import type { GateQuestion } from "./gate-question.ts";
import { FORBIDDEN, Refusal, refusalFrom, refuseAnonymous, type Verdict } from "./refusal.ts";

/** Asks a gate, synchronously if it decides synchronously. Never throws and never rejects: an error is a verdict. */
export function askGate(node: GateNode, question: GateQuestion): MaybePromise<Verdict> {
  switch (node.kind) {
    case "caller":
      return once(node, undefined, question, () => settled(node, question, () => node.judge(question.ctx)));
    case "place":
      return settled(node, question, () => decided(node, question, node.decide(question)));
    case "function":
      return askFunction(node, question);
    case "rule":
      return askRule(node, question);
    case "every":
      return inTurn(node.of, question, (verdict) => verdict !== true, true);
    case "some":
      return askSome(node.of, question);
    case "not":
      return andThen(askGate(node.of, question), opposite);
  }
}

/** The verdict of `not`: an unknown verdict stays unknown. */
export function opposite(verdict: Verdict): Verdict {
  if (verdict === true) return FORBIDDEN;
  return verdict.isUnknown ? verdict : true;
}

function askFunction(node: GateNode & { readonly kind: "function" }, question: GateQuestion): MaybePromise<Verdict> {
  const { identity, user } = question.ctx;
  // A function is never called for anonymous callers, so that it can rely on having a user.
  if (!identity.user.isAuthenticated) return refuseAnonymous(identity);
  const { takesPlace } = node;
  const decide: GateFunction = node.decide;
  const ask = (): MaybePromise<Verdict> =>
    settled(node, question, () =>
      decided(node, question, decide(user as never, (takesPlace ? question.place() : undefined) as never)),
    );
  if (!takesPlace) return once(decide, undefined, question, ask);
  return question.isAboutSubject ? once(decide, question.subject, question, ask) : ask();
}

function askRule(node: GateNode & { readonly kind: "rule" }, question: GateQuestion): MaybePromise<Verdict> {
  const { rule } = node;
  const { ctx, subject } = question;
  const { identity } = ctx;
  if (!identity.user.isAuthenticated && (!rule.anonymous || identity.failure !== undefined))
    return refuseAnonymous(identity);
  return once(rule, subject, question, () =>
    settled(node, question, () => decided(node, question, rule.allows(ctx.user, subject, { ctx }))),
  );
}

/** Asks the gates in order until one ends it. */
function inTurn(
  nodes: readonly GateNode[],
  question: GateQuestion,
  ends: (verdict: Verdict) => boolean,
  otherwise: Verdict,
  from = 0,
): MaybePromise<Verdict> {
  for (let at = from; at < nodes.length; at++) {
    const verdict = askGate(nodes[at] as GateNode, question);
    if (isPromise(verdict))
      return verdict.then((later) => (ends(later) ? later : inTurn(nodes, question, ends, otherwise, at + 1)));
    if (ends(verdict)) return verdict;
  }
  return otherwise;
}

function askSome(nodes: readonly GateNode[], question: GateQuestion): MaybePromise<Verdict> {
  const refusals: Refusal[] = [];
  const ends = (verdict: Verdict): boolean => verdict === true || refusals.push(verdict) === 0;
  return andThen(inTurn(nodes, question, ends, FORBIDDEN), (verdict) => (verdict === true ? true : gravest(refusals)));
}

/** If no gate opens, an unknown verdict wins over a denial, and a denial that says more over one that says less. */
export function gravest(refusals: readonly Refusal[]): Refusal {
  return refusals.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst), refusals[0] ?? FORBIDDEN);
}

const rank = (refusal: Refusal): number => (refusal.isUnknown ? 2 : refusal.isSpecific ? 1 : 0);

/** Asks once for each object of an operation, or once altogether if the gate decides about the caller alone. */
function once(
  gate: object,
  subject: unknown,
  { verdicts }: GateQuestion,
  ask: () => MaybePromise<Verdict>,
): MaybePromise<Verdict> {
  if (verdicts === null) return ask();
  const known = verdicts.verdictsOf(gate);
  const before = known.get(subject);
  if (before !== undefined) return before;
  const verdict = ask();
  known.set(subject, verdict);
  if (isPromise(verdict)) void verdict.then((settled) => known.set(subject, settled), ignore);
  return verdict;
}

function ignore(): void {}

/** Only `true` allows access: a gate that forgot to compare returns an object, and objects are truthy. */
function decided(node: GateNode, question: GateQuestion, result: unknown): MaybePromise<Verdict> {
  if (isPromise(result)) return withTimeout(TIMEOUT_MS, result).then((later) => decided(node, question, later));
  if (result === true) return true;
  if (typeof result !== "boolean") warnOfResult(node, question);
  const { identity } = question.ctx;
  return identity.user.isAuthenticated ? FORBIDDEN : refuseAnonymous(identity);
}

/** The time that a gate has to settle. */
const TIMEOUT_MS = 5_000;

function settled(node: GateNode, question: GateQuestion, ask: () => MaybePromise<Verdict>): MaybePromise<Verdict> {
  return orElse(ask, (error) => failed(node, question, error));
}

/** A gate that fails keeps closed, and the error is logged. */
function failed(node: GateNode, { ctx, verdicts }: GateQuestion, error: unknown): Refusal {
  const refusal = refusalFrom(error);
  if (refusal !== null && !refusal.isUnknown) return refusal;
  // Logged once per operation, because the gate may be called for every object of a long list.
  const known = verdicts?.verdictsOf(node);
  if (known?.has(FAILED) !== true)
    ctx.log.error({ err: loggable(error), gate: nameOf(node) }, "a gate failed; no access is granted");
  known?.set(FAILED, FORBIDDEN);
  if (refusal !== null) return refusal;
  const { error: reason } = ctx.identity.user.isAuthenticated ? FORBIDDEN : refuseAnonymous(ctx.identity);
  return new Refusal(reason, true);
}

const FAILED = Symbol("failed");

const WARNED = new WeakSet<GateNode>();

/** Logs once for each gate, outside production, that it returned a value that is not a boolean. */
function warnOfResult(node: GateNode, { ctx }: GateQuestion): void {
  if (WARNED.has(node) || isProduction()) return;
  WARNED.add(node);
  ctx.log.warn({ gate: nameOf(node) }, "a gate returned neither true nor false; access is denied");
}
