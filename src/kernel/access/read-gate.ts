import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen } from "../../core/maybe-promise.ts";
import { type OptionRule, REFUSED } from "../../core/resolve-options.ts";
import { sourceParameters } from "../../core/source-parameters.ts";
import type { CurrentUser } from "../identity/identity.ts";
import type { Auth, Gate, RoutePlace } from "./gate.ts";
import type { RuleParts } from "./gate-node.ts";
import { checkScopes, type GateNode, ruleIn } from "./gate-node.ts";
import { gateOf, madeOf } from "./gate-of.ts";
import { useAuth } from "./use-auth.ts";

/** The option `auth` as it was written. */
export type WrittenAuth = Auth<never>;

/** The option `auth`. An `auth` that is present but `undefined` is rejected, so that a missing variable cannot remove a check. */
export const authRule: OptionRule<WrittenAuth> & { readonly strict: true } = {
  expected:
    "true, false, a function of the user that returns true or false, or a gate from useAuth(), rule(), every(), some() or not()",
  read: (value) => (isAuth(value) ? value : REFUSED),
  strict: true,
};

function isAuth(value: unknown): value is WrittenAuth {
  return typeof value === "boolean" || typeof value === "function" || isGate(value);
}

function isGate(value: unknown): value is Gate {
  return typeof (value as Gate | null | undefined)?.check === "function";
}

/** Returns the node of an `auth`; `null` for `false`. Throws an error of the given class for a function with wrong parameters. */
export function readGate(
  place: string,
  auth: WrittenAuth,
  Fault: new (place: string, sentence: string) => Error = ConfigurationError,
): GateNode | null {
  if (auth === false) return null;
  if (auth === true) return SIGNED_IN;
  if (typeof auth !== "function") return gateNodeOf(auth);
  const parameters = sourceParameters(auth);
  if (parameters?.some(({ kind, hasDefault }) => kind === "rest" || hasDefault))
    throw new Fault(
      place,
      "a gate takes (user) or (user, place), without defaults and without ...rest: the number of its parameters decides how often it is called",
    );
  if (auth.length > 2)
    throw new Fault(place, `a gate takes (user) or (user, place), but this one takes ${auth.length} parameters`);
  return { kind: "function", decide: auth, takesPlace: auth.length === 2 };
}

const SIGNED_IN: GateNode = gateNodeOf(useAuth());

/** The node of a gate. One that the application wrote itself decides by its `check`. */
export function gateNodeOf(gate: Gate<boolean, any, never>): GateNode {
  const node = madeOf(gate);
  if (node?.kind === "rule") checkUnchanged(node.rule, gate as Partial<RuleParts>);
  if (node !== undefined) return node;
  const { required, scopes, needsIdentity = required } = gate;
  return {
    kind: "caller",
    required,
    scopes,
    needsIdentity,
    requires: null,
    judge: (ctx) => andThen(gate.check(ctx), () => true as const),
  };
}

/** Rejects a copy of a rule with other members, which would be ignored. */
function checkUnchanged(rule: RuleParts, { allows, where, reads, anonymous }: Partial<RuleParts>): void {
  if (allows === rule.allows && where === rule.where && reads === rule.reads && anonymous === rule.anonymous) return;
  throw new ConfigurationError(
    `the rule ${rule.name}`,
    "was copied with another allows, where, reads or anonymous: make the new rule with rule(), or combine rules with every()",
  );
}

/** The option `auth` of a route: a gate `G`, or a function that returns `Verdict`. */
export type RouteAuth<G, Verdict, Place = RoutePlace> =
  | (G & CheckRouteGate<G>)
  | ((user: CurrentUser, place: NoInfer<Place>) => Verdict);

/** Names the reason why a gate cannot guard a route. */
export type CheckRouteGate<G> =
  G extends Gate<any, any, infer Place>
    ? RoutePlace extends Place
      ? unknown
      : { readonly "a rule decides about an object: call ctx.authorize(rule, object) in the handler": never }
    : unknown;

/** Reads the gate of a place without an object. A rule about objects is rejected there. */
export function readRouteGate(place: string, auth: WrittenAuth | undefined): Gate | undefined {
  const node = auth === undefined ? null : readGate(place, auth);
  if (node === null) return undefined;
  checkNeedsNoObject(place, node, "call ctx.authorize(rule, object) in the handler instead");
  // Also for a gate that the application wrote, so that an unexpected error in it denies access.
  return gateOf(node);
}

/** Reads the rule of a list. */
export function readListGate(place: string, rule: unknown): GateNode {
  if (isGate(rule)) return gateNodeOf(rule);
  throw new ConfigurationError(place, "a rule from rule(), every(), some() or not()", rule);
}

/** Combines the gates of a router and of a route in it: both must allow access. */
export function bothGates(place: string, outer: Gate | undefined, inner: Gate | undefined): Gate | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  const nodes = [gateNodeOf(outer), gateNodeOf(inner)];
  checkScopes(place, "accepts no sign-in method together with the auth of its router", nodes);
  return gateOf({ kind: "every", of: nodes });
}

/** Rejects a rule in a place that has no object to decide about. */
export function checkNeedsNoObject(place: string, node: GateNode, advice: string): void {
  const rule = ruleIn(node);
  if (rule !== null)
    throw new ConfigurationError(
      place,
      `is the rule ${rule.name}, which decides about an object, and there is none here: ${advice}`,
    );
}
