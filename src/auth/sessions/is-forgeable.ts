import type { HttpContext, WebSocketContext } from "../../http/context/http-context.ts";
import { HttpException } from "../../http/context/http-exception.ts";

/** What does not change state by the rules of HTTP. An upgrade is a GET, and from a foreign origin refused before. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Whether a page of a foreign origin made the browser send this, with a cookie that it knows nothing of. */
export function isForgeable({ services, exchange }: HttpContext | WebSocketContext): boolean {
  return !SAFE_METHODS.has(exchange.method) && services.origins.provenance(exchange) === "foreign";
}

export function crossSiteRefused(): HttpException {
  return new HttpException(403, "A page of another origin sent this: list its origin in the app's origins", {
    code: "CROSS_SITE_REFUSED",
  });
}
