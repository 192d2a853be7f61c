import { isInstance } from "../../core/describe-error.ts";
import type { Figure, Part } from "../../core/parts/parts.ts";
import { PorticoError } from "../../core/portico-error.ts";

/** The reason of a 503 that a handler wrote itself. */
const OF_HANDLER = "RESPONSE";

/** The responses with status 503, by the code of their error. */
export class UnavailableResponses implements Part {
  readonly #counts = new Map<string, number>();

  /** @param error the error of the response; `undefined` if a handler wrote it */
  count(error: unknown): void {
    const reason = error === undefined ? OF_HANDLER : isInstance(error, PorticoError) ? error.code : "EXCEPTION";
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  *figures(): Iterable<Figure> {
    for (const [reason, value] of this.#counts)
      yield { series: "portico_unavailable_responses_total", labels: [reason], value };
  }
}
