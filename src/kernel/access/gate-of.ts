import { andThen, isPromise, type MaybePromise, orElse } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../context/http-context.ts";
import { askCaller } from "./ask-caller.ts";
import { askGate } from "./ask-gate.ts";
import type { Gate } from "./gate.ts";
import { type GateNode, isRequired, needsIdentity, readsRequest, scopesOf } from "./gate-node.ts";
import { refuseAnonymous, type Verdict } from "./refusal.ts";
import { RouteQuestion } from "./route-question.ts";
import { VerdictMemo } from "./verdict-memo.ts";

/** By the check and not by the gate, so that `{ ...useAuth(), check }` is not mistaken for the gate that it copies. */
const NODES = new WeakMap<Gate["check"], GateNode>();

/** The gate of a node. */
export function gateOf(node: GateNode): Gate<any, any, any> {
  const needsRequest = readsRequest(node);
  const check: Gate["check"] = (ctx) => {
    if (needsRequest && ctx.incoming.isUnread)
      throw new Error(
        "a gate that receives the request was checked before the path and the query were parsed: set it as the auth of the route",
      );
    const passed = pass(askGate(node, new RouteQuestion(ctx, null)));
    return isPromise(passed) ? ctx.checks.make("gate.check(ctx)", () => passed) : passed;
  };
  NODES.set(check, node);
  return { required: isRequired(node), scopes: scopesOf(node), needsIdentity: needsIdentity(node), check };
}

/** The node that the gate was made of; `undefined` for a gate with a `check` that the application wrote. */
export function madeOf(gate: Gate<boolean, any, never>): GateNode | undefined {
  // oxlint-disable-next-line typescript/unbound-method -- a key, which is not called
  return NODES.get(gate.check);
}

/** Lets a request in, or throws. `reserve` takes its cost from the budget, and `read` parses its path and its query. */
export type Admit = (
  ctx: BaseContext,
  reserve: () => MaybePromise<void>,
  read: () => MaybePromise<void>,
) => MaybePromise<void>;

/**
 * The gate of a route or a socket in its order: the parts that decide about the caller, then the path and the query are parsed,
 * then the parts that receive the request. So a gate never sees a value in another form than the handler.
 */
export function admission(gate: Gate | undefined): Admit {
  const node = gate === undefined ? undefined : madeOf(gate);
  if (node === undefined)
    return (ctx, reserve, read) => andThen(reserve(), () => andThen(read(), () => gate?.check(ctx)));
  const needsRequest = readsRequest(node);
  const isForUsers = needsIdentity(node);
  return (ctx, reserve, read) => {
    // Asked twice, a part that decides about the caller is called once.
    const question = new RouteQuestion(ctx, needsRequest ? new VerdictMemo() : null);
    const verdict = ctx.incoming.withheld(() => askCaller(node, question));
    return andThen(verdict, (known) => {
      if (known !== null && known !== true) throw known.error;
      return andThen(reserve(), () => {
        if (known === true) return read();
        return andThen(orElse(read, isForUsers ? (error) => hidden(error, ctx) : rethrow), () =>
          pass(askGate(node, question)),
        );
      });
    });
  };
}

const rethrow = (error: unknown): never => {
  throw error;
};

/** An anonymous caller, whom the gate is going to reject, does not learn which values the route expects. */
function hidden(error: unknown, { identity }: BaseContext): never {
  throw identity.user.isAuthenticated ? error : refuseAnonymous(identity).error;
}

/** Throws the error of a refusal. */
export function pass(verdict: MaybePromise<Verdict>): MaybePromise<void> {
  if (isPromise(verdict)) return verdict.then(pass);
  if (verdict !== true) throw verdict.error;
}
