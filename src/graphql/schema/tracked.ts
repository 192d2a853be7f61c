import { isProduction } from "../../core/env.ts";
import { inField } from "../../http/context/current-field.ts";
import type { Resolve } from "./compile-resolver.ts";

/**
 * Lets statements that a resolver sends be attributed to its field: see `trackFields`. In production, it returns the
 * resolver itself.
 *
 * @param coordinate the type and the name of the field
 */
export function tracked(coordinate: string, isConnection: boolean, resolve: Resolve): Resolve {
  if (isProduction()) return resolve;
  const field = { coordinate, isConnection };
  return (source, raw, graph, info) => inField(field, () => resolve(source, raw, graph, info));
}
