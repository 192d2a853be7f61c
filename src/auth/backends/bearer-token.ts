import { IncomingRequest, type PorticoRequest } from "../../http/context/portico-request.ts";

/** One token after the scheme, which RFC 9110 section 11.1 takes in any case; spaces between them, and nothing else. */
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+)$/i;

/** The text after `Authorization: Bearer`; `null` when there is none, or more than one distinct value. */
export function bearerToken(request: PorticoRequest): string | null {
  const value = authorization(request);
  return value === null ? null : (BEARER.exec(value)?.[1] ?? null);
}

/** Node keeps the first of several `Authorization` headers: which of them a proxy has looked at is anybody's guess. */
function authorization(request: PorticoRequest): string | null {
  const first = request.headers["authorization"];
  if (first === undefined) return null;
  const isAlone =
    !(request instanceof IncomingRequest) || request.everyValue("authorization").every((value) => value === first);
  return isAlone ? first : null;
}
