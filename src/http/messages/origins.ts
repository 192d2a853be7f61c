import { ConfigurationError } from "../../core/configuration-error.ts";
import type { Exchange } from "../../kernel/exchange/exchange.ts";
import type { OriginPolicy, Provenance } from "../../kernel/exchange/origin-policy.ts";

/** The origin of a web page: scheme, host and port. */
export type Origin = `${"http" | "https"}://${string}`;

/** The list of origins for CORS, the CSRF check and sockets. */
export class Origins implements OriginPolicy {
  readonly #listed: ReadonlySet<string>;
  readonly #publicOrigin: string | null;
  readonly #isPublic: boolean;

  /** @param isPublic whether the pages of every origin may read responses, without the caller's cookies */
  constructor(listed: readonly string[], publicUrl: string | null, isPublic: boolean = false) {
    this.#isPublic = isPublic;
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

  get isEmpty(): boolean {
    return this.#listed.size === 0 && !this.#isPublic;
  }

  corsHeaders(exchange: Exchange): Readonly<Record<string, string>> | null {
    const { origin } = exchange.headers;
    if (origin === undefined) return null;
    if (this.#listed.has(origin))
      return { "access-control-allow-origin": origin, "access-control-allow-credentials": "true", ...EXPOSED };
    // Browsers give such a response to a page only if it was requested without cookies.
    return this.#isPublic ? { "access-control-allow-origin": "*", ...EXPOSED } : null;
  }

  preflight(exchange: Exchange, methods: readonly string[]): Readonly<Record<string, string>> | null {
    const asked = exchange.headers["access-control-request-headers"];
    const isAllowed = this.#isPublic || this.provenance(exchange) === "listed";
    if (exchange.headers["access-control-request-method"] === undefined || !isAllowed) return null;
    return {
      "access-control-allow-methods": methods.join(", "),
      ...(asked === undefined ? {} : { "access-control-allow-headers": asked }),
      "access-control-max-age": "600",
    };
  }
}

const EXPOSED = { "access-control-expose-headers": "link, location, ratelimit, ratelimit-policy, retry-after" };

/** An origin in the form that browsers send: no path, no trailing slash, host in lower case, no default port. */
function checkOrigin(origin: string): string {
  const parsed = URL.canParse(origin) ? new URL(origin) : null;
  // The URL parser accepts a wildcard as a host, but it would never match.
  if (parsed === null || !/^https?:\/\/[^*]+$/.test(origin) || parsed.origin !== origin) {
    throw new ConfigurationError(
      "PorticoApp.origins",
      'origins such as "https://shop.example", without a path or a slash at the end',
      origin,
    );
  }
  return origin;
}
