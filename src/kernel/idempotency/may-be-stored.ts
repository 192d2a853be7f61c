import { FeatureSlot } from "../../core/feature-slot.ts";
import { currentContext } from "../context/current-context.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { Outgoing } from "../context/messages.ts";

/** Whether a secret was made for the response of the request. */
const hasSecret = new FeatureSlot(false);

/** Notes that the current request has made a secret, such as a token, so that its response is not stored. */
export function noteSecret(): void {
  const ctx = currentContext();
  if (ctx !== null) hasSecret.put(ctx, true);
}

/** Whether the response of a request may be stored: not with a secret or a cookie, nor if its author forbids it. */
export function mayBeStored(ctx: BaseContext, headers: Outgoing["headers"]): boolean {
  const isForbidden = /\bno-store\b/i.test(String(headers["cache-control"]));
  return !hasSecret.of(ctx) && headers["set-cookie"] === undefined && !isForbidden;
}
