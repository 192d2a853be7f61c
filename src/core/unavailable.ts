import { PorticoError } from "./portico-error.ts";

/** An outage of something that the application needs: 503, to be tried again in a second. The sentence is for the log. */
export function unavailable(sentence: string, cause?: unknown): PorticoError {
  return new PorticoError("SERVICE_UNAVAILABLE", sentence, {
    status: 503,
    headers: { "retry-after": "1" },
    ...(cause === undefined ? {} : { cause }),
  });
}
