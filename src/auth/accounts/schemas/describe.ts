import type { RouteErrors } from "../../../http/routing/route.ts";
import type { AccountOperationId } from "../ownership/lasting.ts";
import { type RecordSchema, record } from "./record-schema.ts";

interface AccountOperation {
  readonly name: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly maxBody: "16kb";
  readonly errors: RouteErrors;
}

/**
 * The options that all account routes share: operation id, tag, body limit, and the errors of their middleware and
 * stores. The operation id must be in `LASTING`, which says what the route does with lasting credentials.
 */
export function describe(name: AccountOperationId, summary: string, errors: RouteErrors = {}): AccountOperation {
  return { name, summary, tags: ["Account"], maxBody: "16kb", errors: { ...SHARED, ...errors } };
}

/** The options of a GET route without a gate. Nothing rejects its callers, wherever they come from. */
export function describeOpen(name: AccountOperationId, summary: string, errors: RouteErrors = {}): AccountOperation {
  const { 403: _, ...shared } = SHARED;
  return { ...describe(name, summary), errors: { ...shared, ...errors } };
}

const SHARED: RouteErrors = {
  403: "The caller lacks permission, or a page of another origin sent the request",
  503: "A store is unavailable, or too many passwords are being hashed. Try again after `Retry-After` seconds",
};

/** Error descriptions that several routes share. */
export const TOO_MANY = "Too many attempts. Try again after `Retry-After` seconds";
export const NOT_OWNED =
  "The email address must be verified first (`email_not_verified`), or a second factor is required (`second_factor_required`). Or the caller lacks permission";
export const BAD_LINK = "The body is not valid, or the link has expired or was already used (`link_invalid`)";
export const BAD_PASSWORD = "The new password is not acceptable. `code` says why";

/** How the routes treat the first proof of an email address. */
export const FIRST_PROOF =
  "The first proof of the address ends everything that was made before it: sessions, tokens, API keys, provider links and, unless it is presented as well, the password. If the account already has a second factor, `code` must be a code of it.";
export const FIRST_PROOF_ERRORS: RouteErrors = {
  401: "The password or the code is incorrect",
  403: "The account is not verified yet and has a second factor: send its code (`second_factor_required`). Or a page of another origin sent the request",
};

/** The response of routes that send email. It does not reveal whether an account exists. */
export const ACCEPTED: { readonly detail: string } = {
  detail: "Request received. If it applies, you'll get an email shortly.",
};
const accepted = { detail: "string" } as const;
export const Accepted: RecordSchema<typeof accepted> = record(accepted, "AccountMailAccepted");
