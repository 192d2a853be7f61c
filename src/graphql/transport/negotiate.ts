import { parseAccept, qualityOf } from "../../http/html/parse-accept.ts";

/** The media types of a response. */
export type ResponseType = "application/json" | "application/graphql-response+json";

export const JSON_TYPE = "application/json";
/** The media types that the endpoint prefers to a page. */
export const RESPONSE_TYPES: readonly ResponseType[] = [JSON_TYPE, "application/graphql-response+json"];
const GRAPHQL_TYPE = "application/graphql-response+json";

export interface Negotiation {
  /** Whether `application/graphql-response+json` is offered. */
  readonly graphqlContentType: boolean;
  /** Whether the request is a query sent with GET: browsers request `text/html` then, and receive JSON. */
  readonly isGet: boolean;
}

/**
 * Chooses the media type of the response from the q-values in `Accept` (RFC 9110 section 12.5.1); `null` if none of them can
 * be served. On a tie, `application/graphql-response+json` wins if it is named.
 */
export function negotiate(accept: string | undefined, { graphqlContentType, isGet }: Negotiation): ResponseType | null {
  if (accept === undefined || accept.trim() === "") return JSON_TYPE;
  const ranges = parseAccept(accept);
  const json = qualityOf(ranges, JSON_TYPE);
  const graphql = qualityOf(ranges, GRAPHQL_TYPE);
  if (!graphqlContentType) return json > 0 || graphql > 0 || isPage(ranges, isGet) ? JSON_TYPE : null;
  if (json === 0 && graphql === 0) return isPage(ranges, isGet) ? JSON_TYPE : null;
  if (graphql === json) return ranges.some(({ type }) => type === GRAPHQL_TYPE) ? GRAPHQL_TYPE : JSON_TYPE;
  return graphql > json ? GRAPHQL_TYPE : JSON_TYPE;
}

/** Whether events may be streamed: `Accept` has to name the type, a wildcard is not enough. */
export function asksForStream(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return parseAccept(accept).some(({ type, quality }) => type === "text/event-stream" && quality > 0);
}

function isPage(ranges: ReturnType<typeof parseAccept>, isGet: boolean): boolean {
  return isGet && qualityOf(ranges, "text/html") > 0;
}
