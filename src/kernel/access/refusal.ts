import { isInstance } from "../../core/describe-error.ts";
import { AuthenticationFailed } from "../exceptions/authentication-failed.ts";
import { ServiceUnavailable } from "../exceptions/http-exception.ts";
import { isForClients, isOutage } from "../exceptions/is-for-clients.ts";
import { PermissionDenied } from "../exceptions/permission-denied.ts";
import type { Identity } from "../identity/identity.ts";

/** The result of a gate: `true` allows access. */
export type Verdict = true | Refusal;

/** Access is denied, or it is unknown whether access is allowed. Both keep the gate closed, and `not` inverts only the first. */
export class Refusal {
  readonly error: Error;
  /** Whether the decision could not be made: the identity of the caller is unknown, or the gate failed. */
  readonly isUnknown: boolean;

  constructor(error: Error, isUnknown: boolean) {
    this.error = error;
    this.isUnknown = isUnknown;
  }

  /** Whether the error says more than that the caller is anonymous or lacks permission. */
  get isSpecific(): boolean {
    return !PLAIN.has((this.error as { readonly code?: unknown }).code);
  }
}

const PLAIN: ReadonlySet<unknown> = new Set(["UNAUTHENTICATED", "FORBIDDEN"]);

/** Whether the verdict allows access. Throws if it is unknown, so that an outage does not read as a denial. */
export function isAllowed(verdict: Verdict): boolean {
  if (verdict === true) return true;
  if (verdict.isUnknown) throw verdict.error;
  return false;
}

/** The `Retry-After` value while the decision cannot be made. */
const RETRY_SECONDS = 5;

const ANONYMOUS = new WeakMap<Identity, Refusal>();

/**
 * The verdict on a caller who is not signed in, for a gate that requires a user. It is the same for every object of a list,
 * because a stack trace costs more than a check.
 */
export function refuseAnonymous(identity: Identity): Refusal {
  const known = ANONYMOUS.get(identity) ?? anonymousRefusal(identity);
  ANONYMOUS.set(identity, known);
  return known;
}

function anonymousRefusal({ failure, refusal, challenge }: Identity): Refusal {
  if (failure === undefined) return new Refusal(refusal ?? new AuthenticationFailed(undefined, challenge), false);
  const sentence = "Authentication is temporarily unavailable. Try again later.";
  return new Refusal(new ServiceUnavailable(sentence, { retryAfterSeconds: RETRY_SECONDS }), true);
}

/** The verdict on a signed-in user who lacks permission. All places share it, because a stack trace costs more than a check. */
export const FORBIDDEN: Refusal = new Refusal(new PermissionDenied(), false);

/** The verdict of a gate that threw this error; `null` if the error says nothing about access. */
export function refusalFrom(error: unknown): Refusal | null {
  if (isForClients(error) || isOutage(error)) return new Refusal(error, error.status >= 500);
  // A `GraphQLDenied`, which is an error of graphql and not of Portico.
  if (!isInstance(error, Error)) return null;
  const { code, message } = error as Error & { readonly code?: unknown };
  if (code === "UNAUTHENTICATED") return new Refusal(new AuthenticationFailed(message), false);
  return code === "FORBIDDEN" ? new Refusal(new PermissionDenied(message), false) : null;
}
