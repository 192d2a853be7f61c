import { IncomingRequest, type PorticoRequest } from "../../http/context/portico-request.ts";

/** One token after the scheme, which is case-insensitive (RFC 9110 section 11.1), separated only by spaces. */
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+)$/i;

/**
 * Returns the token of `Authorization: Bearer`, or `null` if there is none or the header has several different values.
 */
export function bearerToken(request: PorticoRequest): string | null {
  const value = authorization(request);
  return value === null ? null : (BEARER.exec(value)?.[1] ?? null);
}

/** Node keeps only the first of several `Authorization` headers, and a proxy may have checked another one. */
function authorization(request: PorticoRequest): string | null {
  const first = request.headers["authorization"];
  if (first === undefined) return null;
  const isAlone =
    !(request instanceof IncomingRequest) || request.everyValue("authorization").every((value) => value === first);
  return isAlone ? first : null;
}
