import type { MaybePromise } from "../core/maybe-promise.ts";
import type { AnyHandler, FetchContext } from "./data-handler.ts";
import type { PageRequest } from "./page-request.ts";
import { type Steps, wait } from "./steps.ts";
import { DataHandlerInvalid } from "./totals.ts";

/** What a handler is told; the signal costs nothing until it is read. */
export class Fetching implements FetchContext {
  readonly #request: PageRequest;
  readonly totalItems?: number;
  constructor(request: PageRequest, totalItems?: number) {
    this.#request = request;
    if (totalItems !== undefined) this.totalItems = totalItems;
  }
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** The items that a handler gives, checked: a list, and no more than was asked for. */
export function* fetchItems<T>(
  handler: AnyHandler<T>,
  given: MaybePromise<readonly T[]>,
  limit: number,
  request: PageRequest,
): Steps<readonly T[]> {
  const items = yield* wait(given);
  if (!Array.isArray(items)) throw new DataHandlerInvalid(handler, "gave something else than a list of items");
  if (items.length <= limit) return items as readonly T[];
  request.warn(`the data handler ${handler.constructor.name} gave more items than it was asked for`);
  return items.slice(0, limit) as readonly T[];
}
