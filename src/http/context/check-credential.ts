import type { Identity } from "../identity/identity.ts";
import { HttpException, ServiceUnavailable } from "./http-exception.ts";

/** How soon it is worth asking again when it could not be found out who is calling. */
const RETRY_SECONDS = 5;

/**
 * For what stays open, gated or not: throws 401 for a credential that does not count, and 503 while it is not known who is
 * calling. Nobody who shows nothing is fine.
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
