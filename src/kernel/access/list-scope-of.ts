import { andThen, isPromise, type MaybePromise, whenAll } from "../../core/maybe-promise.ts";
import {
  ALWAYS,
  allOf,
  anyOf,
  type Condition,
  inverse,
  isCondition,
  NEVER,
} from "../../pagination/conditions/condition.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import type { BaseContext } from "../context/http-context.ts";
import { askGate } from "./ask-gate.ts";
import type { RuleParts } from "./gate-node.ts";
import { type GateNode, nameOf } from "./gate-node.ts";
import type { GateQuestion, Verdicts } from "./gate-question.ts";
import { isAllowed, Refusal, refuseAnonymous } from "./refusal.ts";
import { VerdictMemo } from "./verdict-memo.ts";

/**
 * Returns the part of a list that this caller may see, if the gate decides about its items. Rejects if the gate cannot decide.
 *
 * @param verdicts those of the operation; by default, a gate is called once for each item of the list
 */
export function listScopeOf(
  node: GateNode,
  ctx: BaseContext,
  verdicts: Verdicts = new VerdictMemo(),
): MaybePromise<ListScope> {
  const scope = (condition: Condition | null): ListScope => ({
    name: nameOf(node),
    condition,
    allows: (items) =>
      whenAll(
        items.map((item) => askGate(node, new ItemQuestion(ctx, item, verdicts))),
        (asked) => asked.map(isAllowed),
      ),
  });
  const restriction = restrictionOf(node, ctx, verdicts);
  return andThen(restriction, (known) => scope(decided(known)));
}

/**
 * Returns the rows that a caller may see, for a gate that is a condition for every user. Throws an error with status 503 if the
 * identity of the caller is unknown.
 */
export function conditionFor(node: GateNode, caller: Pick<BaseContext, "identity" | "user">): Condition {
  const restriction = restrictionOf(node, caller as BaseContext, new VerdictMemo());
  if (isPromise(restriction))
    throw new TypeError(`the guard of a database asks ${nameOf(node)}, which must return true or false, not a promise`);
  const condition = decided(restriction);
  if (condition === null) throw new TypeError(`${nameOf(node)} is not a condition on columns`);
  return condition;
}

function decided(restriction: Restriction): Condition | null {
  if (restriction instanceof Refusal) throw restriction.error;
  return restriction;
}

/** A condition on the rows of a list; `null` if a gate decides by more than their columns; a refusal if it cannot decide. */
type Restriction = Condition | Refusal | null;

/** The gate as a condition for this caller. */
function restrictionOf(node: GateNode, ctx: BaseContext, verdicts: Verdicts): MaybePromise<Restriction> {
  switch (node.kind) {
    case "place":
      return null;
    case "rule":
      return ruleRestriction(node.rule, ctx);
    case "not":
      return andThen(restrictionOf(node.of, ctx, verdicts), (inner) => (isCondition(inner) ? inverse(inner) : inner));
    case "every":
    case "some":
      return combined(node.kind, node.of, (member) => restrictionOf(member, ctx, verdicts));
    case "function":
      return node.takesPlace ? null : constantOf(node, ctx, verdicts);
    case "caller":
      return constantOf(node, ctx, verdicts);
  }
}

/** The condition of a gate that decides about the caller alone. */
function constantOf(node: GateNode, ctx: BaseContext, verdicts: Verdicts): MaybePromise<Restriction> {
  return andThen(askGate(node, new ItemQuestion(ctx, undefined, verdicts)), (verdict) => {
    if (verdict === true) return ALWAYS;
    return verdict.isUnknown ? verdict : NEVER;
  });
}

/** Reads the members in order, and none after one that decides alone, as `askGate` does for an object. */
function combined(
  kind: "every" | "some",
  nodes: readonly GateNode[],
  read: (node: GateNode) => MaybePromise<Restriction>,
  before: readonly Restriction[] = [],
): MaybePromise<Restriction> {
  const next = nodes[before.length];
  if (next === undefined) return combination(kind, before);
  return andThen(read(next), (restriction) => {
    const found = [...before, restriction];
    const isLast = isDecisive(kind, restriction) || (kind === "every" && restriction instanceof Refusal);
    return isLast ? combination(kind, found) : combined(kind, nodes, read, found);
  });
}

function combination(kind: "every" | "some", found: readonly Restriction[]): Restriction {
  const decisive = found.find((one) => isDecisive(kind, one));
  if (decisive !== undefined) return decisive;
  if (found.includes(null)) return null;
  const refusal = found.find((one) => one instanceof Refusal);
  return refusal ?? (kind === "every" ? allOf : anyOf)(found as readonly Condition[]);
}

/** Whether the other members make no difference: one that allows nothing in `every`, or everything in `some`. */
function isDecisive(kind: "every" | "some", restriction: Restriction): boolean {
  return isCondition(restriction) && restriction["~condition"].kind === (kind === "every" ? "never" : "always");
}

function ruleRestriction({ name, anonymous, where }: RuleParts, { identity, user }: BaseContext): Restriction {
  if (!identity.user.isAuthenticated && (!anonymous || identity.failure !== undefined)) {
    const refusal = refuseAnonymous(identity);
    return refusal.isUnknown ? refusal : NEVER;
  }
  if (where === null) return null;
  const condition: unknown = where(user);
  if (isCondition(condition)) return condition;
  throw new TypeError(`the where of the rule ${name} must return a condition, such as isIn("organisation_id", ids)`);
}

/** An item of a list, about which a gate decides. */
class ItemQuestion implements GateQuestion {
  readonly ctx: BaseContext;
  readonly subject: unknown;
  readonly verdicts: Verdicts;
  readonly isAboutSubject = true;

  constructor(ctx: BaseContext, item: unknown, verdicts: Verdicts) {
    this.ctx = ctx;
    this.subject = item;
    this.verdicts = verdicts;
  }
  place(): object {
    return { parent: this.subject, ctx: this.ctx };
  }
}
