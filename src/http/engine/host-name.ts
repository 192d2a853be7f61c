import { BadRequest } from "../../kernel/exceptions/http-exception.ts";
import { countHeaders } from "../text/count-headers.ts";

/** A host as it may stand in a URL, with an optional port. Anything else is forged and could end the host and begin a path. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i;

/** The first valid host name. Behind a proxy the forwarded one comes first; HTTP/1.0 does not require any. */
export function hostName(...candidates: readonly (string | undefined)[]): string {
  return candidates.find((candidate) => candidate !== undefined && HOST.test(candidate)) ?? "localhost";
}

/** RFC 9112 section 3.2: a request with an invalid `Host` header, or with several, is rejected with 400. */
export function checkHost(host: string | undefined, rawHeaders: readonly string[]): BadRequest | null {
  if (host === undefined || host === "") return null;
  if (!HOST.test(host)) return new BadRequest("The Host header is not a valid host name");
  return countHeaders(rawHeaders, "host") > 1 ? new BadRequest("The request has more than one Host header") : null;
}
