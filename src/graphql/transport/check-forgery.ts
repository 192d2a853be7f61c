import type { HttpContext } from "../../http/context/http-context.ts";
import { HttpException } from "../../http/context/http-exception.ts";

/** A page of a foreign origin cannot set these without asking first, by a preflight. */
const PREFLIGHT_HEADERS = ["graphql-require-preflight", "apollo-require-preflight"];

/**
 * Refuses a request that a foreign page could have made a browser send, cookies included, without a preflight: a GET, a form,
 * an upload. A body of JSON needs a preflight already.
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
