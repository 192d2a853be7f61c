import { systemClock } from "../../core/clock.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { Credential } from "../../kernel/identity/credential.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";

/** How a caller has signed in. */
export interface SignIn {
  readonly scope: AuthScope;
  readonly credential: Credential | undefined;
}

/** The credential of a caller who has just signed in with two factors. */
export const JUST_NOW: Credential = {
  level: "mfa",
  get signedInAt(): number {
    return systemClock.now();
  },
};

/** The credentials that a gate may tell apart: by level and age. */
export const CREDENTIALS: readonly (Credential | undefined)[] = [
  JUST_NOW,
  {
    get signedInAt(): number {
      return systemClock.now();
    },
  },
  { level: "mfa", signedInAt: 0 },
  { signedInAt: 0 },
  {},
  undefined,
];

/** The sign-in methods that a gate may tell apart. A backend of the application may have one that the gate does not name. */
export function scopesFor(gate: GateNode): readonly AuthScope[] {
  return [...new Set(["session", "jwt", "apikey", ...namedScopes(gate), "portico-audit"])] as readonly AuthScope[];
}

function namedScopes(gate: GateNode): readonly string[] {
  if (gate.kind === "every" || gate.kind === "some") return gate.of.flatMap(namedScopes);
  if (gate.kind === "not") return namedScopes(gate.of);
  return gate.kind === "caller" ? gate.scopes : [];
}
