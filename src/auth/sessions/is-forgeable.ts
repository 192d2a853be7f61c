import type { HttpContext, WebSocketContext } from "../../kernel/context/http-context.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** Methods that HTTP defines as safe. An upgrade is a GET, and one from another origin is rejected earlier. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Whether a page of another origin may have made the browser send this request (CSRF). */
export function isForgeable({ services, exchange }: HttpContext | WebSocketContext): boolean {
  return !SAFE_METHODS.has(exchange.method) && services.origins.provenance(exchange) === "foreign";
}

export function crossSiteRefused(): HttpException {
  return new HttpException(
    403,
    "A page of another origin sent this request. To allow it, add the origin to the app's origins.",
    {
      code: "CROSS_SITE_REFUSED",
    },
  );
}
