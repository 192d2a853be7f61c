import { ConfigurationError } from "../../core/configuration-error.ts";
import type { ResponseStore } from "../../kernel/idempotency/response-store.ts";
import type { Route } from "./route.ts";
import { placeOfRoute } from "./router.ts";

/** Returns the tables of stored responses that the routes use. Throws for a route whose callers it could not tell apart. */
export function responseStoresOf(routes: readonly Route[]): readonly ResponseStore[] {
  for (const route of routes)
    if (route.idempotent !== undefined && route.auth?.required !== true)
      throw new ConfigurationError(
        `${placeOfRoute(route)}.idempotent`,
        "requires auth for signed-in users: keys belong to a caller, and anonymous callers would share them",
      );
  const stores = routes.flatMap(({ idempotent, responseStores = [] }) =>
    idempotent === undefined ? responseStores : [idempotent.store, ...responseStores],
  );
  return [...new Set(stores)];
}
