import type { Found } from "./discover.ts";
import type { HttpRequest } from "./send.ts";

type Headers = NonNullable<HttpRequest["headers"]>;

/** The operation that every schema can execute. */
export const TYPENAME = "{__typename}";

/** A POST of this value as JSON. */
export function json(value: unknown, headers: Headers = {}): HttpRequest {
  return { body: JSON.stringify(value), headers };
}

/** A POST of a document, and of other parameters. */
export function post(query: string, more: Readonly<Record<string, unknown>> = {}): HttpRequest {
  return json({ query, ...more });
}

/** A POST of `{__typename}` with these headers. */
export function withHeaders(headers: Headers): HttpRequest {
  return json({ query: TYPENAME }, headers);
}

/** A POST of this body, with the Content-Type of JSON unless the headers say otherwise. */
export function raw(body: string | Uint8Array, headers: Headers = {}): HttpRequest {
  return { body, headers };
}

/** A GET with these parameters, and with the headers that the server requires of queries over GET. */
export function get(found: Found, params: Readonly<Record<string, string>>, headers: Headers = {}): HttpRequest {
  return { method: "GET", params: Object.entries(params), headers: { ...found.getHeaders, ...headers } };
}

/** Headers that a browser adds to a request which a page of another site sends without a preflight. */
export const CROSS_SITE: Headers = {
  origin: "https://gauntlet.invalid",
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "no-cors",
};
