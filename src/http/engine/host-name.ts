import { BadRequest } from "../context/http-exception.ts";

/** A host as it may stand in an address, perhaps with a port. Anything else was made up: it could end the host and begin a path. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i;

/** The first that is one; behind a proxy the forwarded one comes first. HTTP/1.0 needs none. */
export function hostName(...candidates: readonly (string | undefined)[]): string {
  return candidates.find((candidate) => candidate !== undefined && HOST.test(candidate)) ?? "localhost";
}

/** RFC 9112 section 3.2: a request with a `Host` that is none, or with several, is 400. */
export function checkHost(host: string | undefined, rawHeaders: readonly string[]): BadRequest | null {
  if (host === undefined || host === "") return null;
  if (!HOST.test(host)) return new BadRequest("The Host header is not a host");
  return hasSeveral(rawHeaders) ? new BadRequest("There is more than one Host header") : null;
}

/** A plain loop: it runs for every request. */
function hasSeveral(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") seen++;
  }
  return seen > 1;
}
