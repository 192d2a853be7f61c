import type { Count } from "../../stores/counter-store.ts";
import { HttpException } from "./http-exception.ts";

/** 429: the operation costs more units than the caller has left in this minute. The response contains the figures. */
export class BudgetExceeded extends HttpException {
  override readonly name: string = "BudgetExceeded";
  readonly #figures: Readonly<Record<"cost" | "limit" | "remaining", number>>;

  constructor(cost: number, limit: number, { value, resetAfterMs }: Count) {
    const remaining = Math.max(0, limit - value);
    const wait = Math.max(1, Math.ceil(resetAfterMs / 1000));
    super(429, `The operation costs ${cost} of ${remaining} remaining units, retry in ${wait} s`, {
      code: "BUDGET_EXCEEDED",
      headers: { "retry-after": String(wait) },
    });
    this.#figures = { cost, limit, remaining };
  }

  override get members(): Readonly<Record<string, unknown>> {
    return this.#figures;
  }
}
