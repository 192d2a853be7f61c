import { randomBytes } from "node:crypto";

/** An id for one error. The client receives it and one log line contains it, so the two can be matched. */
export function correlationId(): string {
  return randomBytes(12).toString("base64url");
}
