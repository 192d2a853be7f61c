import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Exchange } from "./exchange.ts";

/** A place that a browser sends from: scheme, host and port. */
export type Origin = `${"http" | "https"}://${string}`;

/**
 * Where a request comes from, by what the browser says: our own pages, a listed origin, a foreign one; `unknown` when
 * no browser sent it.
 */
export type Provenance = "same" | "listed" | "foreign" | "unknown";

/** The one list of origins that CORS, the forgery check and sockets ask. */
export class Origins {
  readonly #listed: ReadonlySet<string>;
  readonly #publicOrigin: string | null;

  constructor(listed: readonly string[], publicUrl: string | null) {
    this.#listed = new Set(listed.map(checkOrigin));
    this.#publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
  }

  provenance(exchange: Exchange): Provenance {
    const { origin, "sec-fetch-site": site } = exchange.headers as Record<string, string | undefined>;
    if (origin !== undefined && this.#listed.has(origin)) return "listed";
    if (origin !== undefined && origin === (this.#publicOrigin ?? `${exchange.protocol}://${exchange.host}`))
      return "same";
    if (site === "same-origin" || site === "none") return "same";
    return origin === undefined && site === undefined ? "unknown" : "foreign";
  }

  /** Whether answers differ by origin: caches must then keep them apart. */
  get isEmpty(): boolean {
    return this.#listed.size === 0;
  }

  /** Headers that let a listed origin read the answer; `null` for any other. */
  corsHeaders(exchange: Exchange): Readonly<Record<string, string>> | null {
    const { origin } = exchange.headers;
    if (origin === undefined || !this.#listed.has(origin)) return null;
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "link, location, retry-after",
    };
  }

  /** The answer to a preflight, over the methods that the path has; `null` when there is nothing to allow. */
  preflight(exchange: Exchange, methods: readonly string[]): Readonly<Record<string, string>> | null {
    const asked = exchange.headers["access-control-request-headers"];
    if (exchange.headers["access-control-request-method"] === undefined || this.provenance(exchange) !== "listed")
      return null;
    return {
      "access-control-allow-methods": methods.join(", "),
      ...(asked === undefined ? {} : { "access-control-allow-headers": asked }),
      "access-control-max-age": "600",
    };
  }
}

/** As browsers send it: no path, no trailing slash, host in lower case, no default port. */
function checkOrigin(origin: string): string {
  const parsed = URL.canParse(origin) ? new URL(origin) : null;
  // A wildcard is a valid host to the parser, and would never match.
  if (parsed === null || !/^https?:\/\/[^*]+$/.test(origin) || parsed.origin !== origin) {
    throw new ConfigurationError(
      "PorticoApp.origins",
      'origins such as "https://shop.example", without a path or a slash at the end',
      origin,
    );
  }
  return origin;
}
