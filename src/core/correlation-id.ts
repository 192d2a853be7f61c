import { randomBytes } from "node:crypto";

/** An id for one error: sent to the client and written to one log line, it joins the two. */
export function correlationId(): string {
  return randomBytes(12).toString("base64url");
}
