import { isPromise, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { CurrentUser } from "../identity/identity.ts";
import { askGate } from "./ask-gate.ts";
import type { Gate, RoutePlace } from "./gate.ts";
import { type GateNode, isRequired, needsIdentity, scopesOf } from "./gate-node.ts";
import type { Verdict } from "./refusal.ts";

/** The gate of a node. */
export function gateOf(node: GateNode): Gate<any, any, any> {
  return {
    required: isRequired(node),
    scopes: scopesOf(node),
    needsIdentity: needsIdentity(node),
    check: (ctx) => checkRoute(node, ctx),
    "~node": node,
  };
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
