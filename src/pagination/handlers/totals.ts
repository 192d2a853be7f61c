import type { MaybePromise } from "../../core/maybe-promise.ts";
import { PorticoError } from "../../core/portico-error.ts";
import { type OptionRule, optionRule } from "../../core/resolve-options.ts";
import type { AnyHandler, FetchContext } from "./data-handler.ts";

/** How `total_items` is determined: counted, estimated, counted up to a cap, or not at all. */
export type Totals = "exact" | "estimated" | "none" | { readonly capped: number };

export const totalsRule: OptionRule<Totals> = optionRule('"exact", "estimated", "none" or { capped: n }', isTotals);
/** For a strategy whose total is always an integer. */
export const countedTotalsRule: OptionRule<Exclude<Totals, "none">> = optionRule(
  '"exact", "estimated" or { capped: n }, because its total is always an integer',
  (value) => value !== "none" && isTotals(value),
);

function isTotals(value: unknown): boolean {
  if (value === "exact" || value === "estimated" || value === "none") return true;
  const capped: unknown = (value as { capped?: unknown } | null | undefined)?.capped;
  return typeof value === "object" && Number.isSafeInteger(capped) && (capped as number) > 0;
}

/**
 * Returns the JSON Schema of a total for the OpenAPI document. If `totals` is not set, the source decides whether to
 * count.
 */
export function totalSchema(totals: Totals | undefined): Readonly<Record<string, unknown>> {
  if (totals === undefined || totals === "none") return { type: ["integer", "null"] };
  if (totals === "estimated") return { type: "integer", description: "An estimate." };
  if (totals === "exact") return { type: "integer" };
  return {
    type: "integer",
    maximum: totals.capped,
    description: `Counted up to ${totals.capped}; the real total may be higher.`,
  };
}

/** Gets the total from the handler. A cap is raised by one, to see whether there are more items. */
export function askTotal(
  handler: AnyHandler<unknown>,
  totals: Exclude<Totals, "none">,
  context: FetchContext,
): MaybePromise<number> {
  if (totals === "estimated" && handler.estimateTotalItems !== undefined) return handler.estimateTotalItems(context);
  if (typeof totals === "object" && handler.countUpTo !== undefined)
    return handler.countUpTo(totals.capped + 1, context);
  return handler.getTotalItems(context);
}

/** Checks the total that a handler returned: a whole number, or a `bigint` that fits into one. */
export function checkTotal(total: unknown, handler: AnyHandler<unknown>): number {
  const value = typeof total === "bigint" ? Number(total) : total;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new DataHandlerInvalid(handler, "returned a total that is not a whole number");
}

/** A handler returned an invalid result. The response is 500, and the log names the handler. */
export class DataHandlerInvalid extends PorticoError {
  override readonly name: string = "DataHandlerInvalid";
  constructor(handler: AnyHandler<unknown>, fault: string) {
    const label = handler.name === undefined ? "" : ` "${handler.name}"`;
    super("DATA_HANDLER_INVALID", `the data handler ${handler.constructor.name}${label} ${fault}`);
  }
}
