import { HttpException, ServiceUnavailable } from "../exceptions/http-exception.ts";
import type { Identity } from "./identity.ts";

/** The `retry-after` while authentication is unavailable. */
const RETRY_SECONDS = 5;

/**
 * Checks the credential of a connection that stays open, gated or not. Throws 401 for an invalid credential, and 503 while it
 * cannot be verified. A client without a credential passes.
 */
export function checkCredential({ user, failure, isRejected, challenge }: Identity): void {
  if (user.isAuthenticated) return;
  if (failure !== undefined)
    throw new ServiceUnavailable("Authentication is temporarily unavailable. Try again later.", {
      retryAfterSeconds: RETRY_SECONDS,
    });
  if (isRejected === true)
    throw new HttpException(401, "The credential is not valid", {
      headers: { "www-authenticate": challenge ?? "Bearer" },
    });
}
