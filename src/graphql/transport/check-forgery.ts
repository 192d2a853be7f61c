import type { HttpContext } from "../../kernel/context/http-context.ts";
import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** A page of another origin cannot set these headers without a preflight. */
const PREFLIGHT_HEADERS = ["graphql-require-preflight", "apollo-require-preflight"];

/**
 * Prevents CSRF: rejects a request that a page of another origin could make a browser send, cookies included, without a
 * preflight. That is a GET, a form or an upload; a JSON body always needs a preflight.
 */
export function checkForgery({ services, exchange }: HttpContext): void {
  if (services.origins.provenance(exchange) !== "foreign") return;
  if (PREFLIGHT_HEADERS.some((name) => (exchange.headers[name] ?? "") !== "")) return;
  throw new HttpException(
    403,
    `Cross-origin request rejected (CSRF protection). Add the origin to the app's origins, or send the header ${PREFLIGHT_HEADERS[0]}: 1.`,
    { code: "CROSS_SITE_REFUSED" },
  );
}
