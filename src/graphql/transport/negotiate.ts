/** The media types of a response. */
export type ResponseType = "application/json" | "application/graphql-response+json";

export const JSON_TYPE = "application/json";
const GRAPHQL_TYPE = "application/graphql-response+json";

export interface Negotiation {
  /** Whether `application/graphql-response+json` is offered. */
  readonly graphqlContentType: boolean;
  /** Whether the request is a query sent with GET: browsers request `text/html` then, and receive JSON. */
  readonly isGet: boolean;
}

interface Range {
  readonly type: string;
  readonly quality: number;
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

/** Whether a browser requests a page: `Accept` names `text/html` and prefers none of the endpoint's own types to it. */
export function asksForPage(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = parseAccept(accept);
  const html = ranges.find(({ type }) => type === "text/html")?.quality ?? 0;
  return html > 0 && html >= Math.max(qualityOf(ranges, JSON_TYPE), qualityOf(ranges, GRAPHQL_TYPE));
}

/** Whether events may be streamed: `Accept` has to name the type, a wildcard is not enough. */
export function asksForStream(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return parseAccept(accept).some(({ type, quality }) => type === "text/event-stream" && quality > 0);
}

function isPage(ranges: readonly Range[], isGet: boolean): boolean {
  return isGet && qualityOf(ranges, "text/html") > 0;
}

/** The header that was parsed last. A request needs its ranges several times, and the next client often sends the same. */
let parsed: { readonly accept: string; readonly ranges: readonly Range[] } = { accept: "", ranges: [] };

function parseAccept(accept: string): readonly Range[] {
  if (parsed.accept !== accept) parsed = { accept, ranges: rangesOf(accept) };
  return parsed.ranges;
}

function rangesOf(accept: string): readonly Range[] {
  return accept.split(",").map((range) => {
    // A header that consists of commas has 16,000 ranges, so the common case stays cheap.
    if (!range.includes(";")) return { type: range.trim().toLowerCase(), quality: 1 };
    const [type = "", ...parameters] = range.split(";");
    const quality = parameters
      .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
      .find((q) => q !== undefined);
    return { type: type.trim().toLowerCase(), quality: quality === undefined ? 1 : Math.min(Number(quality) || 0, 1) };
  });
}

/** Takes the quality of the most specific range that matches. */
function qualityOf(ranges: readonly Range[], type: string): number {
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  for (const name of [type, family, "*/*"]) {
    const matching = ranges.filter((range) => range.type === name);
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality));
  }
  return 0;
}
