import { ConfigurationError } from "../../core/configuration-error.ts";
import { type AnyHandler, isScopable } from "../handlers/data-handler.ts";
import { restrictedBy } from "../handlers/list-scope.ts";
import { type Steps, wait } from "../handlers/steps.ts";
import { AsyncListDataHandler, SyncListDataHandler, withItems } from "../handlers/sync-list-data-handler.ts";
import type { Filters } from "./filters.ts";
import { meets } from "./meets.ts";

/** Returns the handler for the rows that pass the filters. Throws `ConfigurationError` if it cannot filter. */
export function* filteredHandler<T>(handler: AnyHandler<T>, filters: Filters): Steps<AnyHandler<T>> {
  const { condition } = filters;
  if (handler instanceof SyncListDataHandler || handler instanceof AsyncListDataHandler) {
    const node = condition["~condition"];
    if (node.kind === "always") return handler;
    const items = yield* wait(handler.getItems(0, yield* wait(handler.getTotalItems())));
    return withItems(
      handler,
      items.filter((item) => meets(node, item)),
    );
  }
  if (!isScopable(handler))
    throw new ConfigurationError(
      "filterable",
      `requires a data handler that can filter. ${handler.constructor.name} has no scopedTo: implement it, or use tableHandler or a list`,
    );
  return condition["~condition"].kind === "always" ? handler : restrictedBy(handler, condition);
}
