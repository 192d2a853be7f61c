import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { CurrentUser } from "../identity/identity.ts";
import { askGate } from "./ask-gate.ts";
import type { Gate, RoutePlace } from "./gate.ts";
import { type GateNode, isRequired, needsIdentity, scopesOf } from "./gate-node.ts";
import type { Verdict } from "./refusal.ts";

/** By the check and not by the gate, so that `{ ...useAuth(), check }` is not mistaken for the gate that it copies. */
const NODES = new WeakMap<Gate["check"], GateNode>();

/** The gate of a node. */
export function gateOf(node: GateNode): Gate<any, any, any> {
  const check: Gate["check"] = (ctx) => checkRoute(node, ctx);
  NODES.set(check, node);
  return { required: isRequired(node), scopes: scopesOf(node), needsIdentity: needsIdentity(node), check };
}

/** The node that the gate was made of; `undefined` for a gate with a `check` that the application wrote. */
export function madeOf(gate: Gate<boolean, any, never>): GateNode | undefined {
  // oxlint-disable-next-line typescript/unbound-method -- a key, which is not called
  return NODES.get(gate.check);
}

/** Asks the gate of a route or a socket. */
function checkRoute(node: GateNode, ctx: BaseContext): MaybePromise<void> {
  const place = (): RoutePlace => {
    // A gate function is called for signed-in users only, of whichever class the application has registered.
    const signedIn = ctx as unknown as BaseContext<CurrentUser>;
    return { request: signedIn.request, path: ctx.incoming.params, ctx: signedIn };
  };
  return pass(askGate(node, { ctx, subject: undefined, place, isAboutSubject: false, verdicts: null }));
}

/** Throws the error of a refusal. */
export function pass(verdict: MaybePromise<Verdict>): MaybePromise<void> {
  if (isPromise(verdict)) return verdict.then(pass);
  if (verdict !== true) throw verdict.error;
}
