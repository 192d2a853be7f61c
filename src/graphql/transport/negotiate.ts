/** What an answer may be labelled as. */
export type ResponseType = "application/json" | "application/graphql-response+json";

export const JSON_TYPE = "application/json";
const GRAPHQL_TYPE = "application/graphql-response+json";

export interface Negotiation {
  /** Whether the specification's own type is on offer. */
  readonly graphqlContentType: boolean;
  /** Whether the request is a query by GET: browsers ask for `text/html` then, and get JSON all the same. */
  readonly isGet: boolean;
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

/**
 * Chooses the type of the answer from `Accept`, by its q-values (RFC 9110 section 12.5.1); `null` when nothing that is
 * asked for can be served. On a tie the specification's type wins if it was named.
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

/** Whether a browser is asking for a page: `text/html` is named, and nothing that the endpoint answers with is liked better. */
export function asksForPage(accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? "");
  const html = ranges.find(({ type }) => type === "text/html")?.quality ?? 0;
  return html > 0 && html >= Math.max(qualityOf(ranges, JSON_TYPE), qualityOf(ranges, GRAPHQL_TYPE));
}

/** Whether events may be streamed: by name, a wildcard is no wish for a stream. */
export function asksForStream(accept: string | undefined): boolean {
  return parseAccept(accept ?? "").some(({ type, quality }) => type === "text/event-stream" && quality > 0);
}

function isPage(ranges: readonly Range[], isGet: boolean): boolean {
  return isGet && qualityOf(ranges, "text/html") > 0;
}

function parseAccept(accept: string): readonly Range[] {
  return accept.split(",").map((range) => {
    // A header of commas is 16,000 ranges.
    if (!range.includes(";")) return { type: range.trim().toLowerCase(), quality: 1 };
    const [type = "", ...parameters] = range.split(";");
    const quality = parameters
      .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
      .find((q) => q !== undefined);
    return { type: type.trim().toLowerCase(), quality: quality === undefined ? 1 : Math.min(Number(quality) || 0, 1) };
  });
}

/** The most specific range that matches decides. */
function qualityOf(ranges: readonly Range[], type: string): number {
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  for (const name of [type, family, "*/*"]) {
    const matching = ranges.filter((range) => range.type === name);
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality));
  }
  return 0;
}
