import { BadRequest } from "./exceptions.ts";

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
  const lines = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === "host",
  );
  return lines.length > 1 ? new BadRequest("There is more than one Host header") : null;
}
