import { PorticoError } from "./portico-error.ts";

/**
 * The error for an outage of something that the application needs: 503, to be retried after a second. The message is for the
 * log.
 */
export function unavailable(sentence: string, cause?: unknown): PorticoError {
  return new PorticoError("SERVICE_UNAVAILABLE", sentence, {
    status: 503,
    headers: { "retry-after": "1" },
    ...(cause === undefined ? {} : { cause }),
  });
}
