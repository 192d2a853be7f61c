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

/** The level and the age of a sign-in. */
export interface KnownCredential {
  readonly words: string;
  readonly hasTwoFactors: boolean;
  /** `undefined` where a backend says nothing. */
  readonly facts: Credential | undefined;
}

const ONE_FACTOR: Credential = {
  get signedInAt(): number {
    return systemClock.now();
  },
};

/** The credentials that a gate may tell apart: by level and age. */
export const CREDENTIALS: readonly KnownCredential[] = [
  { words: "two factors, a moment ago", hasTwoFactors: true, facts: JUST_NOW },
  { words: "one factor, a moment ago", hasTwoFactors: false, facts: ONE_FACTOR },
  { words: "two factors, long ago", hasTwoFactors: true, facts: { level: "mfa", signedInAt: 0 } },
  { words: "one factor, long ago", hasTwoFactors: false, facts: { signedInAt: 0 } },
  { words: "two factors, at an unknown time", hasTwoFactors: true, facts: { level: "mfa" } },
  { words: "one factor, at an unknown time", hasTwoFactors: false, facts: {} },
  { words: "nothing known about it", hasTwoFactors: false, facts: undefined },
];

/** Stands for a method that the gate does not name. */
export const UNNAMED_METHOD: AuthScope = "portico-audit" as AuthScope;

/** The sign-in methods that a gate may tell apart. A backend of the application may have one that the gate does not name. */
export function scopesFor(gate: GateNode): readonly AuthScope[] {
  return [...new Set(["session", "jwt", "apikey", ...namedScopes(gate), UNNAMED_METHOD])] as readonly AuthScope[];
}

function namedScopes(gate: GateNode): readonly string[] {
  if (gate.kind === "every" || gate.kind === "some") return gate.of.flatMap(namedScopes);
  if (gate.kind === "not") return namedScopes(gate.of);
  return gate.kind === "caller" ? gate.scopes : [];
}
