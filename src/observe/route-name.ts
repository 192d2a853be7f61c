import type { RequestEvent } from "../kernel/hooks/request-hooks.ts";

/** The name for requests without a route. Clients can invent paths, so these are not told apart. */
export const NO_ROUTE = "<none>";

/** The name of a route: its method and path pattern. The method of a socket is `SOCKET`. */
export function routeName({ kind, method, route }: RequestEvent): string {
  if (route === null) return NO_ROUTE;
  return `${kind === "response" ? method : "SOCKET"} ${route}`;
}
