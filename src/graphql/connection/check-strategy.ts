import { ConfigurationError } from "../../core/configuration-error.ts";
import { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { ListSize } from "../declare/fields/field-options.ts";

/** Throws `ConfigurationError` for a strategy that cannot page a connection. */
export function checkStrategy(caller: string, strategy: unknown): asserts strategy is CursorPagination<any, any> {
  if (!(strategy instanceof CursorPagination))
    throw new ConfigurationError(`${caller}: the strategy`, "a CursorPagination", strategy);
  if (strategy.calculateOffsetLimit !== CursorPagination.prototype.calculateOffsetLimit)
    throw new ConfigurationError(
      `${caller}: the strategy`,
      `cannot be ${strategy.constructor.name}: it overrides calculateOffsetLimit, but first and last set the page size of a connection`,
    );
}

/** The number of items that the cost limit assumes. */
export function connectionSize({ size: { max, fallback } }: CursorPagination<any, any>): ListSize {
  return { argument: ["first", "last"], max, assumed: fallback };
}
