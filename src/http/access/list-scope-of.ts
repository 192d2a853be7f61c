import { isPromise, type MaybePromise, whenAll } from "../../core/maybe-promise.ts";
import { ALWAYS, allOf, anyOf, type Condition, inverse, isCondition, NEVER } from "../../pagination/condition.ts";
import type { ListScope } from "../../pagination/list-scope.ts";
import type { BaseContext } from "../context/http-context.ts";
import { askGate, type GateQuestion, type Verdicts } from "./ask-gate.ts";
import { type GateNode, nameOf } from "./gate-node.ts";
import { refuseAnonymous, type Verdict } from "./refusal.ts";
import type { RuleParts } from "./rule.ts";

/**
 * Returns the part of a list that this caller may see, if the gate decides about its items. Rejects if the gate cannot decide.
 *
 * @param verdicts those of the operation; by default, a gate is called once for each item of the list
 */
export function listScopeOf(
  node: GateNode,
  ctx: BaseContext,
  verdicts: Verdicts = new ListVerdicts(),
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
  const condition = conditionOf(node, ctx, verdicts);
  return isPromise(condition) ? condition.then(scope) : scope(condition);
}

/** Throws for a verdict that is unknown, so that an outage does not read as an empty list. */
function isAllowed(verdict: Verdict): boolean {
  if (verdict === true) return true;
  if (verdict.isUnknown) throw verdict.error;
  return false;
}

/** The gate as a condition on the rows of a list for this caller; `null` if it decides by more than its columns. */
function conditionOf(node: GateNode, ctx: BaseContext, verdicts: Verdicts): MaybePromise<Condition | null> {
  switch (node.kind) {
    case "place":
      return null;
    case "rule":
      return ruleCondition(node.rule, ctx);
    case "not":
      return mapped([node.of], ctx, verdicts, ([inner]) => inverse(inner as Condition));
    case "every":
      return mapped(node.of, ctx, verdicts, allOf);
    case "some":
      return mapped(node.of, ctx, verdicts, anyOf);
    case "function":
      return node.takesPlace ? null : constantOf(node, ctx, verdicts);
    case "caller":
      return constantOf(node, ctx, verdicts);
  }
}

/** The condition of a gate that decides about the caller alone. */
function constantOf(node: GateNode, ctx: BaseContext, verdicts: Verdicts): MaybePromise<Condition> {
  return whenAll([askGate(node, new ItemQuestion(ctx, undefined, verdicts))], ([verdict]) =>
    isAllowed(verdict as Verdict) ? ALWAYS : NEVER,
  );
}

function mapped(
  nodes: readonly GateNode[],
  ctx: BaseContext,
  verdicts: Verdicts,
  combine: (conditions: readonly Condition[]) => Condition,
): MaybePromise<Condition | null> {
  return whenAll(
    nodes.map((node) => conditionOf(node, ctx, verdicts)),
    (conditions) => (conditions.every((condition) => condition !== null) ? combine(conditions) : null),
  );
}

function ruleCondition({ name, anonymous, where }: RuleParts, { identity, user }: BaseContext): Condition | null {
  if (!identity.user.isAuthenticated && (!anonymous || identity.failure !== undefined)) {
    const refusal = refuseAnonymous(identity);
    if (refusal.isUnknown) throw refusal.error;
    return NEVER;
  }
  if (where === null) return null;
  const condition: unknown = where(user);
  if (isCondition(condition)) return condition;
  throw new TypeError(`the where of the rule ${name} must return a condition, such as isIn("organisation_id", ids)`);
}

/** The verdicts about the items of one list. */
class ListVerdicts implements Verdicts {
  readonly #byGate = new Map<object, Map<unknown, MaybePromise<Verdict>>>();

  verdictsOf(gate: object): Map<unknown, MaybePromise<Verdict>> {
    const known = this.#byGate.get(gate) ?? new Map<unknown, MaybePromise<Verdict>>();
    this.#byGate.set(gate, known);
    return known;
  }
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
