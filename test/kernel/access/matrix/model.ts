import type { Decision, Form } from "./forms.ts";
import type { Identity } from "./identities.ts";

/** The owner of the object behind a gate. */
export type Owner = "mine" | "theirs";

/** The three results of a gate. A refusal has the code that clients receive. */
export type Verdict =
  | { readonly is: "allowed" }
  | { readonly is: "denied"; readonly code: string }
  | { readonly is: "unknown"; readonly code: string };

const ALLOWED: Verdict = { is: "allowed" };
const FORBIDDEN: Verdict = { is: "denied", code: "FORBIDDEN" };
const UNAUTHENTICATED: Verdict = { is: "denied", code: "UNAUTHENTICATED" };
const UNAVAILABLE: Verdict = { is: "unknown", code: "SERVICE_UNAVAILABLE" };

/** What a form of `auth` means, as documented. It shares no code with the implementation. */
export function verdictOf(form: Form, identity: Identity, owner: Owner): Verdict {
  switch (form.kind) {
    case "false":
      return ALLOWED;
    case "true":
      return signedIn(identity);
    case "useAuth":
      if (identity.state !== "signed in") return form.required === false ? ALLOWED : signedIn(identity);
      return callerVerdict(form, identity);
    case "own":
    case "function":
      return identity.state === "signed in" ? decision(form.does, identity, owner) : signedIn(identity);
    case "rule": {
      const isAsked = identity.state === "signed in" || (identity.state === "anonymous" && form.anonymous === true);
      return isAsked ? decision(form.does, identity, owner) : signedIn(identity);
    }
    case "every":
      return form.of.map((one) => verdictOf(one, identity, owner)).find(({ is }) => is !== "allowed") ?? ALLOWED;
    case "some":
      return best(form.of.map((one) => verdictOf(one, identity, owner)));
    case "not": {
      const inner = verdictOf(form.of, identity, owner);
      if (inner.is === "unknown") return inner;
      return inner.is === "allowed" ? FORBIDDEN : ALLOWED;
    }
  }
}

function signedIn({ state }: Identity): Verdict {
  if (state === "unknown") return UNAVAILABLE;
  return state === "signed in" ? ALLOWED : UNAUTHENTICATED;
}

function callerVerdict(form: Form & { readonly kind: "useAuth" }, caller: Identity): Verdict {
  const { scope, canRead, isFresh, isStrong } = caller;
  const { scopes = [], permissions = [], freshSeconds, level } = form;
  if (scopes.length > 0 && !scopes.some((one) => one === scope)) return UNAUTHENTICATED;
  if (permissions.some((one) => one !== "read" || !canRead)) return FORBIDDEN;
  if (level !== undefined && !isStrong) return { is: "denied", code: "SECOND_FACTOR_REQUIRED" };
  return freshSeconds === undefined || isFresh ? ALLOWED : { is: "denied", code: "SIGN_IN_AGAIN" };
}

function decision(does: Decision, { state, canRead }: Identity, owner: Owner): Verdict {
  const denied = state === "anonymous" ? UNAUTHENTICATED : FORBIDDEN;
  const failed: Verdict = { is: "unknown", code: state === "anonymous" ? "UNAUTHENTICATED" : "FORBIDDEN" };
  switch (does) {
    case "allows":
      return ALLOWED;
    case "refuses":
    case "returns text":
      return denied;
    case "by permission":
      return canRead ? ALLOWED : denied;
    case "by owner":
      return owner === "mine" ? ALLOWED : denied;
    case "fails":
      return failed;
    case "fails on theirs":
      return owner === "mine" ? ALLOWED : failed;
    case "throws 401":
      return UNAUTHENTICATED;
    case "throws 403":
      return FORBIDDEN;
    case "throws 503":
      return UNAVAILABLE;
  }
}

const SPECIFIC: readonly string[] = ["SIGN_IN_AGAIN", "SECOND_FACTOR_REQUIRED"];

/** One that allows wins, then one that is unknown, then one that says more than 401 or 403, then the first. */
function best(verdicts: readonly Verdict[]): Verdict {
  return (
    verdicts.find(({ is }) => is === "allowed") ??
    verdicts.find(({ is }) => is === "unknown") ??
    verdicts.find((verdict) => verdict.is === "denied" && SPECIFIC.includes(verdict.code)) ??
    (verdicts[0] as Verdict)
  );
}

const STATUS: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  SIGN_IN_AGAIN: 403,
  SECOND_FACTOR_REQUIRED: 403,
  NOT_FOUND: 404,
  SERVICE_UNAVAILABLE: 503,
};

/** The status of a response with this code. */
export function statusOf(code: string): number {
  return STATUS[code] ?? 0;
}
