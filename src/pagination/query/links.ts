import type { QueryParams } from "./query-params.ts";

/** Absolute URLs of the neighbouring pages. A link without a page is absent. */
export interface Links {
  readonly first: string;
  readonly last?: string;
  readonly prev?: string;
  readonly next?: string;
}

/** The parameters that a link sets, in this order. */
export type LinkChanges = readonly (readonly [parameter: string, value: string | number])[];

/** Builds links for one request: its URL and its other parameters stay, and the pagination parameters are set. */
export class LinkMaker {
  readonly #start: string;

  /** @param search the query as it was sent, if it is known, so that the order and encoding of the others stay */
  constructor(baseUrl: string, params: QueryParams, search: string | undefined, dropped: readonly string[]) {
    const others = search === undefined ? joined(params, dropped) : kept(search, dropped);
    this.#start = `${baseUrl}?${others === "" ? "" : `${others}&`}`;
  }

  to(changes: LinkChanges): string {
    return this.#start + changes.map(([name, value]) => `${encode(name)}=${encode(String(value))}`).join("&");
  }
}

// Node's HTTP clients reject headers larger than 16 kB.
const MAX_HEADER_LENGTH = 8_000;

/** Returns the links as the value of a `Link` header (RFC 8288), or `null` if there are none or they are too long. */
export function linkHeader(links: unknown): string | null {
  if (typeof links !== "object" || links === null) return null;
  const parts = Object.entries(links).flatMap(([rel, url]) =>
    typeof url === "string" && /^[a-z][a-z0-9.-]*$/.test(rel) ? [`<${encodeUrl(url)}>; rel="${rel}"`] : [],
  );
  const header = parts.join(", ");
  return header === "" || header.length > MAX_HEADER_LENGTH ? null : header;
}

function joined(params: QueryParams, dropped: readonly string[]): string {
  return Object.entries(params)
    .filter(([name]) => !dropped.includes(name))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? (value as readonly string[]) : [value]).flatMap((entry: unknown) =>
        typeof entry === "string" ? [`${encode(name)}=${encode(entry)}`] : [],
      ),
    )
    .join("&");
}

function kept(search: string, dropped: readonly string[]): string {
  if (search === "") return "";
  return search
    .split("&")
    .filter((pair) => pair !== "" && !dropped.includes(nameOf(pair)))
    .map(encodeUrl)
    .join("&");
}

function nameOf(pair: string): string {
  const name = pair.split("=", 1)[0] as string;
  if (!/[%+]/.test(name)) return name;
  const spaced = name.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** Encodes the characters that a URL may not contain, and leaves encoded ones as they are. */
export function encodeUrl(url: string): string {
  return /^[\w\-.~!$&'()*+,;=:@/?[\]]*$/.test(url)
    ? url
    : url.toWellFormed().replace(/%(?![\da-f]{2})|[^\w\-.~!$&'()*+,;=:@/?[\]%]+/gi, encodeURIComponent);
}

function encode(text: string): string {
  // Names, numbers and cursors, which are the usual values, need no encoding.
  if (/^[\w-]*$/.test(text)) return text;
  return encodeURIComponent(text.toWellFormed());
}
