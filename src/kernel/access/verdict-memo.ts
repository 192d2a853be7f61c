import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Verdicts } from "./gate-question.ts";
import type { Verdict } from "./refusal.ts";

/** The verdicts about one request, or about the items of one list. */
export class VerdictMemo implements Verdicts {
  readonly #byGate = new Map<object, Map<unknown, MaybePromise<Verdict>>>();

  verdictsOf(gate: object): Map<unknown, MaybePromise<Verdict>> {
    const known = this.#byGate.get(gate) ?? new Map<unknown, MaybePromise<Verdict>>();
    this.#byGate.set(gate, known);
    return known;
  }
}
