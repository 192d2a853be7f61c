import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { askGate, gravest, opposite } from "./ask-gate.ts";
import { type GateNode, readsRequest } from "./gate-node.ts";
import type { GateQuestion } from "./gate-question.ts";
import { type Refusal, refuseAnonymous, type Verdict } from "./refusal.ts";

/**
 * Asks a gate as far as the caller alone decides it. No part that receives the request is called. Returns `null` if such a part
 * decides.
 */
export function askCaller(node: GateNode, question: GateQuestion): MaybePromise<Verdict | null> {
  if (!readsRequest(node)) return askGate(node, question);
  switch (node.kind) {
    case "not":
      return andThen(askCaller(node.of, question), (verdict) => (verdict === null ? null : opposite(verdict)));
    case "every":
      return andThen(askEach(node.of, question, isRefusal), (found) => found.find(isRefusal) ?? null);
    case "some":
      return andThen(askEach(node.of, question, isOpen), (found) => {
        if (found.some(isOpen)) return true;
        return found.includes(null) ? null : gravest(found.filter(isRefusal));
      });
    case "function": {
      const { identity } = question.ctx;
      return identity.user.isAuthenticated ? null : refuseAnonymous(identity);
    }
    case "caller":
    case "place":
    case "rule":
      return null;
  }
}

/** Asks the gates in order, up to one that ends it. */
function askEach(
  nodes: readonly GateNode[],
  question: GateQuestion,
  ends: (verdict: Verdict | null) => boolean,
  before: readonly (Verdict | null)[] = [],
): MaybePromise<readonly (Verdict | null)[]> {
  const next = nodes[before.length];
  if (next === undefined) return before;
  return andThen(askCaller(next, question), (verdict) => {
    const found = [...before, verdict];
    return ends(verdict) ? found : askEach(nodes, question, ends, found);
  });
}

const isOpen = (verdict: Verdict | null): boolean => verdict === true;
const isRefusal = (verdict: Verdict | null): verdict is Refusal => verdict !== true && verdict !== null;
