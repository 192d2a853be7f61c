import type { Route } from "./route.ts";

/** A GraphQL endpoint has routes for further methods only to reject them with a GraphQL response. */
export function isServed({ graph, method }: Route): boolean {
  return graph === undefined || method === "GET" || method === "POST";
}
