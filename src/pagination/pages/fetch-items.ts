import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { AnyHandler, FetchContext } from "../handlers/data-handler.ts";
import { type Steps, wait } from "../handlers/steps.ts";
import { DataHandlerInvalid } from "../handlers/totals.ts";
import type { PageRequest } from "./page-request.ts";

/** The context that a handler receives. The signal is created only when it is read. */
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

/** Returns the items of a handler. Throws if they are not a list, and drops items beyond the limit. */
export function* fetchItems<T>(
  handler: AnyHandler<T>,
  given: MaybePromise<readonly T[]>,
  limit: number,
  request: PageRequest,
): Steps<readonly T[]> {
  const items = yield* wait(given);
  if (!Array.isArray(items)) throw new DataHandlerInvalid(handler, "did not return a list of items");
  if (items.length <= limit) return items as readonly T[];
  request.warn(`the data handler ${handler.constructor.name} returned more items than requested`);
  return items.slice(0, limit) as readonly T[];
}
