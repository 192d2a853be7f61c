import type { Exchange } from "./exchange.ts";

/**
 * Where a request comes from according to the browser: our own pages, a listed origin or a foreign one; `unknown` if it did not
 * come from a browser.
 */
export type Provenance = "same" | "listed" | "foreign" | "unknown";

/** Decides which origins may read responses and use the caller's cookies. */
export interface OriginPolicy {
  provenance(exchange: Exchange): Provenance;
  /** Whether no origins are listed. Otherwise responses differ by origin, and caches must keep them apart. */
  readonly isEmpty: boolean;
  /** Headers that allow a listed origin to read the response; `null` for any other origin. */
  corsHeaders(exchange: Exchange): Readonly<Record<string, string>> | null;
  /** The response to a preflight request for the methods of the path; `null` if nothing is allowed. */
  preflight(exchange: Exchange, methods: readonly string[]): Readonly<Record<string, string>> | null;
}
